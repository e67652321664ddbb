"""Starting a stream job that has lost records, and starting it over, as plans. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from console.kit.plans.plan import Plan, PlanLine

RESET, START = "reset checkpoint", "start after loss"
EARLIEST, LATEST = "earliest", "latest"
#: (topic, partition) → offset.
Offsets = Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class CheckpointLoss:
    """Records between where a job would go on and where the log begins now: they are gone before they were read."""

    topic: str
    partition: int
    position: int
    log_start: int

    @property
    def offsets(self) -> int:
        return self.log_start - self.position


def losses(places: Offsets | None, starts: Offsets) -> list[CheckpointLoss]:
    """Return them, greatest first."""
    losses = [
        CheckpointLoss(topic, partition, offset, starts[topic, partition])
        for (topic, partition), offset in (places or {}).items()
        if offset < starts.get((topic, partition), 0)
    ]
    return sorted(losses, key=lambda loss: (-loss.offsets, loss.topic, loss.partition))


def start_plan(name: str, lost: list[CheckpointLoss], fails_on_loss: bool) -> Plan:
    """Plan starting the job now; empty if no records were lost."""
    if fails_on_loss:
        outcome = (
            "The job has fail.on.data.loss=true: it will stop with an error at once. Reset its checkpoint to go on "
            "without these records."
        )
    else:
        outcome = "The job has fail.on.data.loss=false: it goes on without these records."
    return Plan(
        action=START,
        object_type="process",
        object_name=name,
        lines=tuple(PlanLine(f"{loss.topic}-{loss.partition}", loss.position, loss.log_start) for loss in lost),
        read=tuple(f"{loss.topic}-{loss.partition}:{loss.position}<{loss.log_start}" for loss in lost),
        touches=(outcome,),
        safe_because="",
        losses=(f"{sum(loss.offsets for loss in lost):,} offsets were deleted before the job has read them.",),
        undo="stop it.",
    )


def reset_plan(
    name: str,
    places: Offsets | None,
    target: str,
    bounds: tuple[Offsets, Offsets],
    obstacle: str,
) -> Plan:
    """Plan a reset. `bounds`: the first and next offsets of the logs. `target`: EARLIEST or LATEST, where the job
    begins without checkpoint.
    """
    starts, ends = bounds
    begins = starts if target == EARLIEST else ends
    partitions = sorted({*(places or {}), *begins})
    turns = [(partition, (places or {}).get(partition), begins.get(partition)) for partition in partitions]
    lines = tuple(PlanLine(f"{topic}-{partition}", old, new, is_told=True) for (topic, partition), old, new in turns)
    steps = [new - old for _, old, new in turns if old is not None and new is not None]
    again, skipped = sum(-step for step in steps if step < 0), sum(step for step in steps if step > 0)
    sentences = [f"The job begins at the {'first' if target == EARLIEST else 'next new'} record of each partition."]
    if again:
        sentences.append(f"{again:,} offsets are read again, and what comes of them is written again.")
    return Plan(
        action=RESET,
        object_type="process",
        object_name=name,
        lines=lines,
        read=(target, *(f"{line.name}={line.old}" for line in lines if line.old is not None), obstacle),
        touches=tuple(sentences),
        safe_because="",
        losses=(
            *((f"{skipped:,} offsets are never read by this job.",) if skipped else ()),
            "What it has counted and remembers so far begins at nothing, and a checkpoint that was put aside before is "
            "deleted.",
        ),
        undo="stop it and put the directory checkpoint-before-reset back in place of checkpoint, in its directory.",
        typed_name=name,
        obstacle=obstacle or ("" if places is not None else "There is no checkpoint, so there is nothing to reset."),
    )
