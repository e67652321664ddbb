"""What is said of a kind of trouble, as a plan. Pure."""

from collections.abc import Iterable

from console.automation.healing.acting import AGAIN_MS, COOL_DOWN_MS
from console.automation.healing.kinds import WORDS, HealingMode, TroubleRule
from console.kit.common.figures import size
from console.kit.plans.plan import Plan, PlanLine

ACTION, OBJECT_TYPE = "set self-healing", "self-healing"


def rule_plan(before: TroubleRule, after: TroubleRule, actor_before: str, actor: str) -> Plan:
    """Plan the change of a rule. `actor_before`: in whose name it acts now, empty if it does not act."""
    return Plan(
        action=ACTION,
        object_type=OBJECT_TYPE,
        object_name=after.kind.value,
        lines=tuple(_lines(before, after, actor_before, actor)),
        read=(f"{before} {actor_before}",),
        touches=tuple(_touches(after)),
        losses=(),
        safe_because="" if after.mode is HealingMode.ACT else "Nothing is done before a person confirms it.",
        undo="set it back: the audit keeps what it was.",
    )


def _lines(before: TroubleRule, after: TroubleRule, actor_before: str, actor: str) -> Iterable[PlanLine]:
    pairs = {
        "mode": (before.mode.value, after.mode.value),
        "after, minutes": (before.minutes, after.minutes),
        "limit, %": (before.limit, after.limit),
        "copied, per second": (size(before.rate), size(after.rate)),
        "in the name of": (
            actor_before if before.mode is HealingMode.ACT else "",
            actor if after.mode is HealingMode.ACT else "",
        ),
    }
    return (PlanLine(name, old, new) for name, (old, new) in pairs.items() if old != new)


def _touches(after: TroubleRule) -> Iterable[str]:
    words = WORDS[after.kind]
    if after.mode is HealingMode.OFF:
        yield "Nothing is proposed any more, and what is proposed is withdrawn."
        return
    yield f"{words.trouble}, for {after.minutes} minutes in which the console saw it: {words.remedy}."
    if after.mode is HealingMode.PROPOSE:
        yield "That is proposed, as a plan, and a person confirms it."
        return
    yield (
        "It is done without a person, in your name, as long as you may do it: one at a time, "
        f"{COOL_DOWN_MS // 60_000} minutes apart, the same cause once in {AGAIN_MS // 3_600_000} hours, and not while "
        "another long operation or a move is under way. Rules of changes and read-only mode hold it up as they would "
        "you."
    )
