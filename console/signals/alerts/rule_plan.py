"""A rule of alerts made, changed or removed on the page, as a plan. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from console.kit.plans.plan import Plan, PlanLine

KEEP, REMOVE = "keep alert rule", "remove alert rule"
_NAMED_MAX = 5


def rule_plan(
    name: str, before: Mapping[str, Any], after: Mapping[str, Any], bad: Sequence[str], obstacle: str = ""
) -> Plan:
    """Plan a rule. `bad` are the objects that break it now; without anything `after` it is removed."""
    names = sorted(before.keys() | after.keys())
    pairs = ((name, _shown(before.get(name)), _shown(after.get(name))) for name in names)
    lines = tuple(PlanLine(name, old, new) for name, old, new in pairs if old != new)
    is_removed = not after
    return Plan(
        action=REMOVE if is_removed else KEEP,
        object_type="alert",
        object_name=name,
        lines=lines,
        read=(json.dumps(before, sort_keys=True),),
        touches=("Its open alerts are resolved.",) if is_removed else (_now(bad),),
        losses=("No channel gets a message any more when an object breaks this rule.",) if is_removed else (),
        safe_because="" if before else "Messages are sent; the cluster is not touched.",
        undo="Make it again: the form for a new one offers it." if is_removed else "Remove it, or change it back.",
        obstacle=obstacle,
    )


def _shown(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _now(bad: Sequence[str]) -> str:
    if not bad:
        return "Nothing breaks it now."
    named = ", ".join(bad[:_NAMED_MAX])
    more = f" and {len(bad) - _NAMED_MAX} more" if len(bad) > _NAMED_MAX else ""
    return f"It is broken now by {named}{more}."
