"""What a coordinator knows of the cluster's topics: whose partitions it assigns."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple, Protocol
from uuid import UUID


class AssignableTopic(NamedTuple):
    """A topic that exists, with all its partitions known."""

    name: str
    topic_id: UUID
    partition_count: int


class TopicDirectory(Protocol):
    """The topics as this broker knows them."""

    @property
    def version(self) -> int:
        """Another number whenever a topic came, went or got partitions."""

    def names(self) -> Iterable[str]: ...

    def named(self, name: str) -> AssignableTopic | None:
        """Return the topic; None if it does not exist, or has no id."""

    def name_of(self, topic_id: UUID) -> str | None: ...


class NoTopics:
    """The directory of a coordinator whose broker knows no topics."""

    version = 0

    def names(self) -> Iterable[str]:
        return ()

    def named(self, name: str) -> AssignableTopic | None:
        return None

    def name_of(self, topic_id: UUID) -> str | None:
        return None


def hash_of(topics: Iterable[AssignableTopic]) -> int:
    """Return a signed 64-bit number that is another one when a topic, its id or its number of partitions is another.

    Kafka has another hash there. A coordinator of Kafka that takes a group over sees a change and assigns once more,
    which moves nothing.
    """
    digest = blake2b(digest_size=8)
    for topic in sorted(topics):
        digest.update(f"{topic.name} {topic.topic_id} {topic.partition_count}\n".encode())
    return int.from_bytes(digest.digest(), signed=True)
