"""What `kafka-transactions` prints: tables whose cells are padded and followed by a TAB, as Kafka's are. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NONE = "None"
_MINUTE_MS = 60_000

LIST = ("TransactionalId", "Coordinator", "ProducerId", "TransactionState")
DESCRIBE = (
    "CoordinatorId",
    "TransactionalId",
    "ProducerId",
    "ProducerEpoch",
    "TransactionState",
    "TransactionTimeoutMs",
    "CurrentTransactionStartTimeMs",
    "TransactionDurationMs",
    "TopicPartitions",
)
PRODUCERS = (
    "ProducerId",
    "ProducerEpoch",
    "LatestCoordinatorEpoch",
    "LastSequence",
    "LastTimestamp",
    "CurrentTransactionStartOffset",
)
HANGING = (
    "Topic",
    "Partition",
    "ProducerId",
    "ProducerEpoch",
    "CoordinatorEpoch",
    "StartOffset",
    "LastTimestamp",
    "Duration(min)",
)


@dataclass(frozen=True, slots=True)
class ProducerTransaction:
    """Transaction of one producer in one partition, as the partition knows it."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    start_offset: int
    last_timestamp: int

    def is_old(self, now_ms: int, age_ms_min: int) -> bool:
        return now_ms - self.last_timestamp > age_ms_min

    def row(self, now_ms: int) -> tuple[object, ...]:
        minutes = (now_ms - self.last_timestamp) // _MINUTE_MS
        return (
            self.topic,
            self.partition,
            self.producer_id,
            self.producer_epoch,
            max(self.coordinator_epoch, 0),
            self.start_offset,
            self.last_timestamp,
            minutes,
        )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table, its head first."""
    cells = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    return ["".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True)) for row in cells]


def or_none(number: int) -> object:
    return NONE if number < 0 else number
