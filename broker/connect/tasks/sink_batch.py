"""What a sink's task was not given yet, or may still report: a batch's records, where they end, and their messages."""

from collections.abc import Collection, Sequence
from typing import Any

from broker.connect.api import ConnectPartition, SinkColumns, SinkRecord
from broker.connect.tasks.consumed import partition_of, place_of

Offsets = dict[ConnectPartition, int]
Part = list[SinkRecord] | SinkColumns
#: Partitions of a batch, of up to 500 records, that are named by it.
_SPANS_TOLD = 8


class SinkBatch:
    """`parts` in the order read, `ends` behind the last message of each partition, also of what was left out."""

    def __init__(self) -> None:
        self.ends: Offsets = {}
        self._parts: list[Part] = [[]]
        #: By the record itself: a transform may give records of two topics the same place.
        self._messages: dict[int, tuple[SinkRecord, Any]] = {}
        self._runs: list[Sequence[Any]] = []

    def parts(self) -> list[Part]:
        """Return the parts, at least one, perhaps without records. `drop` affects parts being iterated."""
        return self._parts

    def add(self, record: SinkRecord, message: Any) -> None:
        last = self._parts[-1]
        if isinstance(last, SinkColumns):
            last = []
            self._parts.append(last)
        last.append(record)
        self._messages[id(record)] = record, message

    def add_columns(self, columns: SinkColumns, messages: Sequence[Any]) -> None:
        if self._parts[-1]:
            self._parts.append(columns)
        else:
            self._parts[-1] = columns
        self._runs.append(messages)

    def message_of(self, record: SinkRecord) -> Any | None:
        """Return the message of a record of the batch, or of the record it was derived from; None if there is none."""
        known = self._messages.get(id(record))
        return known[1] if known else self.message_at(record.topic, record.partition, record.offset)

    def message_at(self, topic: str, partition: int, offset: int) -> Any | None:
        """Return the message at a record's original position; None if the batch has none."""
        place = topic, partition, offset
        for record, message in self._messages.values():
            if (record.topic, record.partition, record.offset) == place:
                return message
        read = (value for run in self._runs for value in run)
        return next((value for value in read if (value.topic(), value.partition(), value.offset()) == place), None)

    def drop(self, partitions: Collection[ConnectPartition]) -> None:
        """Drop everything read from these partitions."""
        for partition in partitions:
            self.ends.pop(partition, None)
        for at, part in enumerate(self._parts):
            if isinstance(part, SinkColumns):
                if ConnectPartition(part.topic, part.partition) in partitions:
                    self._parts[at] = []
            else:
                self._parts[at] = [item for item in part if self._origin(item) not in partitions]

    def taken(self) -> None:
        """Note that the task has taken the batch; it may report its records until the next batch."""
        self._parts, self.ends = [[]], {}

    def forget_messages(self) -> None:
        self._messages, self._runs = {}, []

    def where_of(self, part: Part) -> str:
        """Describe the offset range of each partition in the part, for the error of a task that failed on it."""
        spans: dict[tuple[str, int], list[int]] = {}
        if isinstance(part, SinkColumns):
            spans[part.topic, part.partition] = part.offsets
        else:
            for record in part:
                spans.setdefault(self._origin(record), []).append(record.offset)
        spans_text = [_span(topic, partition, offsets) for (topic, partition), offsets in spans.items()]
        more = f" and {len(spans_text) - _SPANS_TOLD} partitions more" if len(spans_text) > _SPANS_TOLD else ""
        return ", or ".join(spans_text[:_SPANS_TOLD]) + more

    def _origin(self, record: SinkRecord) -> ConnectPartition:
        message = self.message_of(record)
        if message is None:
            return ConnectPartition(record.topic, record.partition)
        return partition_of(message)


def _span(topic: str, partition: int, offsets: list[int]) -> str:
    first, last = (f"the record at {place_of(topic, partition, number)}" for number in (offsets[0], offsets[-1]))
    return f"at {first}" if len(offsets) == 1 else f"between {first} and {last}"
