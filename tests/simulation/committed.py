"""What has ever been seen as committed: one value for each (topic id, partition, offset), whoever shows it and when.

And one topic for each value: nobody sends a value to a topic and then to the next topic of that name.
"""

from collections.abc import Sequence
from uuid import UUID

from broker.records.record import Record
from tests.simulation.history import History

#: (leader epoch, key, value)
Seen = tuple[int, bytes | None, bytes | None]


class Committed:
    """Consumers and looks into replicas feed it; what does not agree is a violation at that moment."""

    def __init__(self, history: History):
        self._history = history
        self._topics: dict[bytes, UUID] = {}
        self.partitions: dict[tuple[UUID, int], dict[int, Seen]] = {}

    def see(
        self,
        who: str,
        topic_id: UUID,
        partition: int,
        leader_epoch: int,
        records: Sequence[Record],
        *,
        by_client: bool = True,
    ) -> None:
        """`by_client`: no broker wrote them."""
        if by_client:
            self._see_topic(who, topic_id, records)
        known = self.partitions.setdefault((topic_id, partition), {})
        for record in records:
            seen = (leader_epoch, record.key, record.value)
            before = known.setdefault(record.offset, seen)
            if before != seen:
                place = f"{topic_id}-{partition} offset {record.offset}"
                self._history.violate(f"{who} shows {seen} as {place}, which was {before}")

    def _see_topic(self, who: str, topic_id: UUID, records: Sequence[Record]) -> None:
        for record in records:
            home = self._topics.setdefault(record.value, topic_id)
            if home != topic_id:
                self._history.violate(f"{who} shows {record.value!r} in topic {topic_id}, it was sent to {home}")
