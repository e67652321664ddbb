"""One plan for the same change of many objects, made of the plans of each. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from console.kit.plans.plan import Plan, PlanLine

#: Objects that a sentence names; beyond it their number.
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOfMany(Plan):
    """`parts` are the plans of the objects that change."""

    #: What is confirmed of each part, as JSON: a plan's own `parts` are not.
    confirmed_parts: tuple[object, ...]


def plan_of_many(
    plans: Sequence[Plan], *, action: str, object_type: str, object_name: str, typed_name: str
) -> PlanOfMany:
    """Merge plans of one object each, without the empty ones. `typed_name` is to be typed if one of them is harmful."""
    parts = tuple(sorted((plan for plan in plans if not plan.is_empty), key=lambda plan: plan.object_name))
    return PlanOfMany(
        action=action,
        object_type=object_type,
        object_name=object_name,
        lines=tuple(_line(part, line) for part in parts for line in part.lines),
        read=tuple(f"{part.object_name}: {text}" for part in parts for text in part.read),
        touches=tuple(_by_sentence(parts, [part.touches for part in parts])),
        losses=tuple(_by_sentence(parts, [part.losses for part in parts])),
        safe_because=_common(part.safe_because for part in parts),
        undo=_common(part.undo for part in parts),
        command="\n".join(part.command for part in parts),
        typed_name=typed_name if any(part.is_harmful for part in parts) else "",
        about=tuple(part.object_name for part in parts),
        obstacle=next((f"{plan.object_name}: {plan.obstacle}" for plan in plans if plan.obstacle), ""),
        parts=parts,
        confirmed_parts=tuple(part.confirmed for part in parts),
    )


def some(names: Sequence[str]) -> str:
    """Return the names in a row: the first five, and how many more."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _line(part: Plan, line: PlanLine) -> PlanLine:
    name = part.object_name if len(part.lines) == 1 else f"{part.object_name} {line.name}"
    return PlanLine(name, line.old, line.new, line.is_told)


def _by_sentence(parts: Sequence[Plan], sentences: Iterable[Iterable[str]]) -> Iterable[str]:
    """Yield each sentence once, behind the names of those it is about unless it is about all."""
    names: dict[str, list[str]] = {}
    for part, own in zip(parts, sentences, strict=True):
        for sentence in own:
            names.setdefault(sentence, []).append(part.object_name)
    for sentence, about in names.items():
        yield sentence if len(about) == len(parts) > 1 else f"{some(about)}: {sentence}"


def _common(sentences: Iterable[str]) -> str:
    """Return the sentence if it is the same of all, else empty."""
    different = set(sentences)
    return different.pop() if len(different) == 1 else ""
