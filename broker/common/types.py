"""Types that every package uses: a partition of a topic, and the values that stand for no broker or offset."""

from enum import IntEnum
from typing import NamedTuple
from uuid import UUID

#: `new_tuple(Pair, (1, 2))` is `Pair(1, 2)` for a named tuple, without the call of a Python function: for what is made
#: several times a request.
new_tuple = tuple.__new__

#: Wire value of "no leader", "no controller", "consumer" in a replica_id field.
NO_BROKER = -1
#: Wire value of "no leader epoch known"; skips the fencing check.
NO_LEADER_EPOCH = -1
#: The id of a topic is not known: a Kafka older than topic ids (KIP-516) made the topic, or a tool of one wrote its
#: znode anew. It never stands for another topic, and is never a key.
NO_TOPIC_ID = UUID(int=0)


def may_be_same_topic(one: UUID | None, other: UUID | None) -> bool:
    """Return whether topic ids noted under one name can be those of one topic: equal, or one of them unknown."""
    return one == other or any(topic_id in (None, NO_TOPIC_ID) for topic_id in (one, other))


class IsolationLevel(IntEnum):
    """What a consumer wants to see of transactions; values on the wire."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class TopicPartition(NamedTuple):
    """One partition of one topic; prints as Kafka's directory name."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class TopicIdPartition(NamedTuple):
    """A partition of one incarnation of a topic: a topic that is made anew under its name has another id (KIP-516)."""

    partition: TopicPartition
    topic_id: UUID = NO_TOPIC_ID
