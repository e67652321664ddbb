"""What comes next of a decommission: move replicas away, wait, stop and forget. Pure: the beat asks, this answers.

The broker is not stopped before the cluster itself has said that it holds nothing; what is put on it meanwhile (a new
topic, a move by hand) is moved away too.
"""

from dataclasses import dataclass
from enum import StrEnum

from console.cluster.placement.sentences import count_of

#: What the collector knows of partitions may be as old as that.
FRESH_MS = 15_000


class DecommissionStep(StrEnum):
    NOTHING = "nothing"
    DRAIN = "drain"
    REMOVE = "remove"
    FINISH = "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecommissionFacts:
    """`left`: partitions with a replica on it, as seen at `seen_at_ms`; `is_moving`: something is under way already."""

    is_paused: bool = False
    is_stopping: bool = False
    now_ms: int
    seen_at_ms: int
    held: int
    left: int
    is_moving: bool
    is_managed: bool
    process: str = ""


@dataclass(frozen=True, slots=True)
class DecommissionDecision:
    """No sentence: the last one holds."""

    do: DecommissionStep
    sentence: str = ""


def decide(facts: DecommissionFacts) -> DecommissionDecision:
    if not facts.is_managed:
        return DecommissionDecision(
            DecommissionStep.FINISH, "It has been stopped and is not managed here any more; its files stay."
        )
    if facts.is_stopping:
        return DecommissionDecision(
            DecommissionStep.NOTHING, f"It holds nothing any more and is being stopped: {facts.process}"
        )
    if facts.is_paused:
        return DecommissionDecision(DecommissionStep.NOTHING)
    if facts.now_ms - facts.seen_at_ms > FRESH_MS:
        return DecommissionDecision(
            DecommissionStep.NOTHING, "Waits: the collector has not read the partitions of late."
        )
    if not facts.left:
        return DecommissionDecision(DecommissionStep.REMOVE, "It holds nothing any more.")
    if facts.is_moving:
        gone = max(0, facts.held - facts.left)
        return DecommissionDecision(
            DecommissionStep.NOTHING,
            f"{gone:,} of {facts.held:,} partitions have left it; the others are being reassigned.",
        )
    return DecommissionDecision(
        DecommissionStep.DRAIN, f"Moves away what is still there: {count_of(facts.left, 'partition')}."
    )
