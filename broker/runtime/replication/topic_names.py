"""Which topics this broker hosts partitions of, by id: followers ask by ids, what is hosted is known by names.

Only as long as any partition of the topic is hosted: ids of topics that are deleted come never again, and a broker
that lives for years would keep each of them.
"""

from uuid import UUID


class TopicNames:
    """Names of the hosted topics."""

    def __init__(self) -> None:
        self._names: dict[UUID, str] = {}
        #: How many partitions of each are hosted.
        self._partitions: dict[UUID, int] = {}

    def __len__(self) -> int:
        return len(self._names)

    def of(self, topic_id: UUID) -> str:
        """Empty, which is no topic's name, if no partition of it is hosted."""
        return self._names.get(topic_id, "")

    def hosted(self, topic_id: UUID, name: str) -> None:
        """One partition more of it is."""
        self._names[topic_id] = name
        self._partitions[topic_id] = self._partitions.get(topic_id, 0) + 1

    def let_go(self, topic_id: UUID) -> None:
        """One that was `hosted` is no more."""
        self._partitions[topic_id] -= 1
        if not self._partitions[topic_id]:
            del self._partitions[topic_id], self._names[topic_id]
