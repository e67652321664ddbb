"""What a sink's task was not given yet, or may still report: a batch's records, where they end, and their messages."""

from collections.abc import Collection, Sequence
from typing import Any

from broker.connect.api import SinkColumns, SinkRecord, TopicPartition

Offsets = dict[TopicPartition, int]
Part = list[SinkRecord] | SinkColumns
#: Partitions of a batch, of up to 500 records, that are named by it.
_SPANS_TOLD = 8


class SinkBatch:
    """`parts` in the order read, `ends` behind the last message of each partition, also of what was left out."""

    def __init__(self) -> None:
        self.ends: Offsets = {}
        self._parts: list[Part] = [[]]
        self._messages: dict[tuple[str, int, int], Any] = {}
        self._runs: list[Sequence[Any]] = []

    def parts(self) -> list[Part]:
        """At least one, if only of no records. What `drop` does to them is seen by who is in the midst of them."""
        return self._parts

    def add(self, record: SinkRecord, message: Any) -> None:
        last = self._parts[-1]
        if isinstance(last, SinkColumns):
            last = []
            self._parts.append(last)
        last.append(record)
        self._messages[record.topic, record.partition, record.offset] = message

    def add_columns(self, columns: SinkColumns, messages: Sequence[Any]) -> None:
        if self._parts[-1]:
            self._parts.append(columns)
        else:
            self._parts[-1] = columns
        self._runs.append(messages)

    def message_of(self, topic: str, partition: int, offset: int) -> Any | None:
        """By the record's place, which a transform may have changed."""
        for run in self._runs:
            self._messages |= {(each.topic(), each.partition(), each.offset()): each for each in run}
        self._runs.clear()
        return self._messages.get((topic, partition, offset))

    def drop(self, partitions: Collection[TopicPartition]) -> None:
        """Nothing of what was read from these is put any more."""
        for partition in partitions:
            self.ends.pop(partition, None)
        for at, part in enumerate(self._parts):
            if isinstance(part, SinkColumns):
                if TopicPartition(part.topic, part.partition) in partitions:
                    self._parts[at] = []
            else:
                self._parts[at] = [each for each in part if self._origin(each) not in partitions]

    def taken(self) -> None:
        """The task has it; it may report of these records until others come."""
        self._parts, self.ends = [[]], {}

    def forget_messages(self) -> None:
        self._messages, self._runs = {}, []

    def _origin(self, record: SinkRecord) -> TopicPartition:
        message = self.message_of(record.topic, record.partition, record.offset)
        if message is None:
            return TopicPartition(record.topic, record.partition)
        return TopicPartition(message.topic(), message.partition())


def spans_of(part: Part) -> str:
    """From where to where in each partition; which of the records a task could not take is for the task to say."""
    spans: dict[tuple[str, int], list[int]] = {}
    if isinstance(part, SinkColumns):
        spans[part.topic, part.partition] = part.offsets
    else:
        for record in part:
            spans.setdefault((record.topic, record.partition), []).append(record.offset)
    told = [f"{topic}-{partition}@{_span(offsets)}" for (topic, partition), offsets in spans.items()]
    more = f" and {len(told) - _SPANS_TOLD} partitions more" if len(told) > _SPANS_TOLD else ""
    return ", ".join(told[:_SPANS_TOLD]) + more


def _span(offsets: list[int]) -> str:
    return f"{offsets[0]}" if len(offsets) == 1 else f"{offsets[0]}–{offsets[-1]}"
