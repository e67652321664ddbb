"""What retention deletes later, though it deletes nothing now: a segment goes as a whole, the active one too. Pure.

A segment goes when its newest record is older than retention.ms. What is written to all the time keeps records far
older than that, until the active segment rolls (segment.ms, segment.bytes) or nothing is written any more; then they
go at one blow. By size, retention.bytes must have been written since the segment rolled.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from console.cluster.retention.plan import UnreadLoss, losses_below
from console.kit.gateway.retention.interface import CommittedView, PartitionRetention, RetentionView


class DeletionCause(StrEnum):
    """Why records are deleted later. `OVERDUE`: they are past retention.ms, and go with their segment. `SILENCE`: all
    there is, when nothing is written for retention.ms. `SIZE`: partitions beyond retention.bytes, when so much has
    been written anew.
    """

    OVERDUE = "overdue"
    SILENCE = "silence"
    SIZE = "size"


@dataclass(frozen=True, slots=True)
class LaterDeletion:
    """`records` are those that stay now and go then; `losses` counts unread ones from the log start of now on."""

    cause: DeletionCause
    records: int
    losses: tuple[UnreadLoss, ...]

    @property
    def lost_records(self) -> int:
        return sum(loss.records for loss in self.losses)


def later(
    view: RetentionView, committed: CommittedView, young_from: Mapping[int, int | None]
) -> tuple[LaterDeletion, ...]:
    """Return what goes later of what deleting now leaves; nothing if nothing is left or no limit is set.

    `young_from`: by partition the first offset younger than retention.ms, None where no record is; partitions that
    are missing did not answer.
    """
    if "delete" not in view.cleanup_policy:
        return ()
    left = [
        partition
        for partition in view.partitions
        if not partition.error and partition.next_offset > partition.new_first_offset
    ]
    deletions = []
    if view.retention_ms >= 0:
        overdue = {retention.partition: _within(retention, young_from) for retention in left}
        deletions.append(_later(DeletionCause.OVERDUE, left, overdue, view, committed))
        deletions.append(_later(DeletionCause.SILENCE, left, _ends(left), view, committed))
    if view.retention_bytes >= 0:
        full = [item for item in left if item.size_bytes - item.deleted_bytes > view.retention_bytes]
        deletions.append(_later(DeletionCause.SIZE, full, _ends(full), view, committed))
    return tuple(item for item in deletions if item.records)


def is_overdue(deletions: Iterable[LaterDeletion]) -> bool:
    """Return True if records beyond a limit stay only as long as their segment does."""
    return any(symptom.cause in (DeletionCause.OVERDUE, DeletionCause.SIZE) for symptom in deletions)


def _ends(partitions: Iterable[PartitionRetention]) -> dict[int, int]:
    return {partition.partition: partition.next_offset for partition in partitions}


def _within(retention: PartitionRetention, young_from: Mapping[int, int | None]) -> int:
    young = young_from.get(retention.partition, retention.new_first_offset)
    return (
        retention.next_offset if young is None else max(retention.new_first_offset, min(young, retention.next_offset))
    )


def _later(
    cause: DeletionCause,
    partitions: Iterable[PartitionRetention],
    starts: Mapping[int, int],
    view: RetentionView,
    committed: CommittedView,
) -> LaterDeletion:
    records = sum(starts[partition.partition] - partition.new_first_offset for partition in partitions)
    return LaterDeletion(
        cause,
        records,
        losses_below(starts, {partition.partition: partition.first_offset for partition in view.partitions}, committed),
    )
