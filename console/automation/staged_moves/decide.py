"""What comes next of a move that goes in batches. Pure: the beat asks, this answers.

A partition that is neither on the brokers it was on when all of this was planned nor where it shall be was moved by
somebody else meanwhile: the world is another, and nobody has agreed to what would be done to it now.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from console.cluster.placement.move import Targets
from console.cluster.placement.sentences import count_of

#: Partitions named in a sentence.
_NAMED_MAX = 3


class StagedMoveStep(StrEnum):
    NOTHING = "nothing"
    BEGIN = "begin"
    FINISH = "finish"
    #: It ends if nothing of it has begun, and pauses if something has.
    REFUSE = "refuse"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class StagedMoveDecision:
    """No sentence: the last one holds. `batch`: what begins now; `left`: partitions that have not arrived."""

    do: StagedMoveStep
    sentence: str = ""
    batch: Targets = field(default_factory=dict)
    left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedMoveFacts:
    """Before the cluster is asked. `forbids`: why nothing may begin now; `not_allowed`: why its owner may not."""

    is_paused: bool = False
    now_ms: int
    begins_ms: int = 0
    begins: str = ""
    #: Partitions of it that are on the move, as far as is known here.
    moving: int = 0
    batches: int = 0
    forbids: str = ""
    not_allowed: str = ""


def may_begin(facts: StagedMoveFacts) -> StagedMoveDecision:
    """Return BEGIN if the next batch is due, as far as that is known without the cluster."""
    if facts.is_paused:
        return StagedMoveDecision(StagedMoveStep.NOTHING)
    if facts.now_ms < facts.begins_ms:
        return StagedMoveDecision(StagedMoveStep.NOTHING, f"Begins {facts.begins}.")
    if facts.moving:
        return StagedMoveDecision(
            StagedMoveStep.NOTHING, f"Batch {facts.batches}: {count_of(facts.moving, 'partition')} being reassigned."
        )
    if facts.not_allowed:
        return StagedMoveDecision(StagedMoveStep.PAUSE, facts.not_allowed)
    if facts.forbids:
        return StagedMoveDecision(StagedMoveStep.NOTHING, f"Waits: {facts.forbids}")
    return StagedMoveDecision(StagedMoveStep.BEGIN)


def next_batch(former: Targets, wanted: Targets, present: Targets, size: int) -> StagedMoveDecision:
    """Return the first `size` partitions that have not arrived, if all of them are still where they were."""
    left = {place: target for place, target in sorted(wanted.items()) if present.get(place) != target}
    if not left:
        return StagedMoveDecision(StagedMoveStep.FINISH, f"All {count_of(len(wanted), 'partition')} arrived.", left=0)
    gone = [place for place in left if place not in present]
    if gone:
        return StagedMoveDecision(
            StagedMoveStep.REFUSE, f"{_named(gone)} {_is_are(gone)} not there any more.", left=len(left)
        )
    # What was called off has come back in whatever order.
    moved = [place for place in left if set(present[place]) != set(former.get(place, ()))]
    if moved:
        now = ", ".join(map(str, present[moved[0]]))
        return StagedMoveDecision(
            StagedMoveStep.REFUSE,
            f"{_named(moved)} {_is_are(moved)} on other brokers than planned from ({now} now).",
            left=len(left),
        )
    batch = dict(list(left.items())[:size])
    return StagedMoveDecision(StagedMoveStep.BEGIN, batch=batch, left=len(left))


def remade(then: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return why nothing begins if topics were deleted and recreated since the plan; empty if none was.

    One whose id is not told is compared with nothing: that it is gone is seen by its partitions.
    """
    others = [topic for topic, its_id in sorted(then.items()) if now.get(topic, its_id) != its_id]
    if not others:
        return ""
    named = ", ".join(others[:_NAMED_MAX])
    more = f" and {len(others) - _NAMED_MAX:,} more" if len(others) > _NAMED_MAX else ""
    was = "was" if len(others) == 1 else "were"
    return f"{named}{more} {was} deleted and recreated since this was planned."


def _named(places: list[tuple[str, int]]) -> str:
    named = ", ".join(f"{topic}-{partition}" for topic, partition in places[:_NAMED_MAX])
    more = len(places) - _NAMED_MAX
    return f"{named} and {more:,} more" if more > 0 else named


def _is_are(places: list[tuple[str, int]]) -> str:
    return "is" if len(places) == 1 else "are"
