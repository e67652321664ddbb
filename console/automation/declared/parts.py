"""What of a declaration is not so yet: a plan for each object, and all of them as one. Pure."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from django.contrib.auth.models import User

from console.kit.plans.apply import Refusals
from console.kit.plans.digest import digest_of
from console.kit.plans.plan import Confirmation, Plan, PlanLine

APPLY = "apply declaration"
OBJECT_TYPE = "declaration"
#: Plans in one: each is carried out while somebody waits.
PARTS_MAX = 500
#: Reasons that are told one by one.
_REASONS_MAX = 10


class Prune(StrEnum):
    """What becomes of what is there and not declared. `LATER`: topics go after their day of grace, all else at once."""

    NO = ""
    LATER = "later"
    AT_ONCE = "at once"


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """One plan, and what carries it out. `refusal`: why this person may not have it done; empty: they may.

    `again` makes it anew right before it is carried out, where something is lost by it that cannot be brought back.
    """

    plan: Plan
    do: Callable[[User, Confirmation], Refusals | None]
    refusal: str = ""
    again: "Callable[[], PlannedPart] | None" = None

    @property
    def words(self) -> str:
        return f"{self.plan.object_type} {self.plan.object_name}"

    @property
    def obstacle(self) -> str:
        return self.refusal or self.plan.obstacle


@dataclass(frozen=True, slots=True)
class Unplanned:
    """What is declared and could not even be compared; `words` name it, as the file does."""

    words: str
    why: str


@dataclass(frozen=True, slots=True)
class DeclaredPlan:
    """What a declaration comes to now, in the order in which it is done."""

    parts: tuple[PlannedPart, ...]
    unplanned: tuple[Unplanned, ...] = ()
    #: Sentences about what is left as it is.
    notes: tuple[str, ...] = ()

    @property
    def reasons(self) -> list[str]:
        """Why the plan cannot be carried out."""
        reasons = [f"{rule.words}: {rule.why}" for rule in self.unplanned]
        reasons += [f"{part.words}: {part.obstacle}" for part in self.parts if part.obstacle]
        if len(self.parts) > PARTS_MAX:
            reasons.insert(
                0, f"There are {len(self.parts):,} changes; a plan has at most {PARTS_MAX}. Apply fewer files."
            )
        return reasons


def whole_plan(made: DeclaredPlan, files: Sequence[str], prune: Prune) -> Plan:
    """Return all parts as one plan, whose digest covers theirs."""
    plans = [part.plan for part in made.parts]
    return Plan(
        action=APPLY,
        object_type=OBJECT_TYPE,
        object_name=", ".join(files) or "typed",
        lines=tuple(_line(plan, line) for plan in plans for line in plan.lines),
        read=(f"prune={prune}", *(digest_of(plan, None) for plan in plans)),
        touches=(*made.notes, *(f"{_words(plan)}: {touch}" for plan in plans for touch in plan.touches)),
        losses=tuple(f"{_words(plan)}: {loss}" for plan in plans for loss in plan.losses),
        safe_because="Each change in it is safe." if all(plan.safe_because for plan in plans) else "",
        undo="each change is one of its own in the audit, and is taken back from the page of its object."
        if any(plan.undo for plan in plans)
        else "",
        command=_command(files, prune),
        parts=tuple(plans),
        typed_name=_typed_name(plans),
        obstacle=_obstacle(made.reasons),
    )


def _words(plan: Plan) -> str:
    return f"{plan.object_type} {plan.object_name}"


def _line(plan: Plan, line: PlanLine) -> PlanLine:
    return replace(line, name=f"{_words(plan)}: {plan.action}: {line.name}")


def _typed_name(plans: Sequence[Plan]) -> str:
    """Return the name to type: of one plan its own, of several that they are several."""
    typed = [plan.typed_name for plan in plans if plan.typed_name]
    return typed[0] if len(typed) == 1 else f"{len(typed)} losses" if typed else ""


def _obstacle(reasons: Sequence[str]) -> str:
    more = len(reasons) - _REASONS_MAX
    sentences = [f"{reason.rstrip('.')}." for reason in reasons[:_REASONS_MAX]]
    return " ".join([*sentences, f"And {more} more."] if more > 0 else sentences)


def _command(files: Sequence[str], prune: Prune) -> str:
    options = {Prune.NO: [], Prune.LATER: ["--prune"], Prune.AT_ONCE: ["--prune", "--at-once"]}[prune]
    return shlex.join(["barnabas", "apply", *files, *options]) if files else ""
