"""Which topics this broker hosts partitions of, by id: followers ask by ids, what is hosted is known by names.

Only as long as any partition of the topic is hosted: ids of topics that are deleted come never again, and a broker
that lives for years would keep each of them.
"""

from uuid import UUID

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.types import NO_TOPIC_ID


class TopicNames:
    """Names of the hosted topics."""

    def __init__(self) -> None:
        self._names: dict[UUID, str] = {}
        #: How many partitions of each are hosted.
        self._partitions: dict[UUID, int] = {}

    def __len__(self) -> int:
        return len(self._names)

    def of(self, topic_id: UUID) -> str:
        """Empty, which is no topic's name, if no partition of it is hosted; hence for NO_TOPIC_ID."""
        return self._names.get(topic_id, "")

    def id_to_host(self, topic: str, topic_id: UUID, noted: UUID | None) -> UUID:
        """Return the id under which a partition of the topic is to be hosted; `noted` is that of its log.

        A role under NO_TOPIC_ID is one in the topic that the log notes (see `broker.controller.topic_ids`). Raises
        ApiError: REPLICA_NOT_AVAILABLE without any id, INCONSISTENT_TOPIC_ID for that of another hosted topic.
        """
        if topic_id == NO_TOPIC_ID:
            if noted is None:
                raise ApiError(ErrorCode.REPLICA_NOT_AVAILABLE, f"{topic} has no topic id yet")
            topic_id = noted
        if self.of(topic_id) not in ("", topic):
            raise ApiError(ErrorCode.INCONSISTENT_TOPIC_ID, f"{self.of(topic_id)} has the topic id of {topic}")
        return topic_id

    def hosted(self, topic_id: UUID, name: str) -> None:
        """Count one more hosted partition of the topic id.

        Raises InvariantViolation for NO_TOPIC_ID, which many topics may have.
        """
        if topic_id == NO_TOPIC_ID:
            raise InvariantViolation(f"a partition of {name} would be hosted without a topic id")
        self._names[topic_id] = name
        self._partitions[topic_id] = self._partitions.get(topic_id, 0) + 1

    def let_go(self, topic_id: UUID) -> None:
        """Count one hosted partition less; drop the name with the last."""
        self._partitions[topic_id] -= 1
        if not self._partitions[topic_id]:
            del self._partitions[topic_id], self._names[topic_id]


def note_outcome(outcomes: dict[UUID, dict[int, ErrorCode]], topic_id: UUID, partition: int, code: ErrorCode) -> None:
    """Note what became of a role. Of topics without ids, which share an entry, an error is not hidden by a success."""
    partitions = outcomes.setdefault(topic_id, {})
    partitions[partition] = partitions.get(partition) or code
