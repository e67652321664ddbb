"""Beginning and ending read-only mode as a plan. Pure."""

from dataclasses import dataclass

from console.kit.access.read_only import CONSOLE, ReadOnly, scopes
from console.kit.plans.plan import Plan, PlanLine


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPlan(Plan):
    scope: str
    #: Whether it is read-only afterwards.
    begins: bool


def switch_plan(scope: str, now: ReadOnly | None) -> SwitchPlan:
    """Plan to end read-only mode if it is on, otherwise to begin it."""
    ends = now is not None
    return SwitchPlan(
        scope=scope,
        begins=not ends,
        action="end read-only" if ends else "begin read-only",
        object_type=scope.partition(" ")[0],
        object_name=scopes()[scope],
        lines=(PlanLine("read-only", ends, not ends),),
        read=(scope, repr(now)),
        touches=_ENDING if ends else _BEGINNING,
        losses=(),
        safe_because="" if ends else "Changes are refused; the cluster and what is under way go on.",
        undo="begin it again." if ends else "end it here.",
        obstacle=_from_settings(scope) if now is not None and now.since is None else "",
    )


_BEGINNING = (
    "Every change is refused until it is ended.",
    "What is under way goes on, and a rolling restart can still be paused.",
)
_ENDING = ("Changes are possible again for users with the right.",)


def _from_settings(scope: str) -> str:
    reason = "BARNABAS_READ_ONLY was set" if scope == CONSOLE else "The file of the clusters said so"
    return f"{reason} when the console was started; only a start without it ends it."
