"""Names for the integers and strings of a Kafka cluster, so that a partition cannot pass for a broker id."""

from typing import NamedTuple, NewType

BrokerId = NewType("BrokerId", int)
TopicName = NewType("TopicName", str)
PartitionIndex = NewType("PartitionIndex", int)
Offset = NewType("Offset", int)
LeaderEpoch = NewType("LeaderEpoch", int)

#: Wire value of "no leader", "no controller", "consumer" in a replica_id field.
NO_BROKER = -1
#: Wire value of "no leader epoch known"; skips the fencing check.
NO_LEADER_EPOCH = -1


class TopicPartition(NamedTuple):
    """One partition of one topic; prints as Kafka's directory name."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
