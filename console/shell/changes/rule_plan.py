"""A rule of changes made, changed or removed, as a plan. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from console.kit.plans.plan import Plan, PlanLine
from console.shell.changes.rules import APPROVAL, KEEP, OBJECT_TYPE, REMOVE

_HOLDS_UP = "A change that the rule holds up is refused or waits; what is under way goes on."
_UNGUARDED = "One person alone can then make, at any time, the changes that this rule holds up."
NOBODY_ELSE = "No other user could approve anything then: give a second account the right first."


def rule_plan(name: str, before: Mapping[str, Any], after: Mapping[str, Any], others: int, obstacle: str = "") -> Plan:
    """Plan a rule. `others`: accounts beside this one that may change something; without anything `after` it is
    removed.
    """
    keys = sorted(before.keys() | after.keys())
    pairs = ((key, _shown(before.get(key)), _shown(after.get(key))) for key in keys)
    asks_person = after.get("kind") == APPROVAL
    if asks_person and not others:
        obstacle = obstacle or NOBODY_ELSE
    return Plan(
        action=KEEP if after else REMOVE,
        object_type=OBJECT_TYPE,
        object_name=name,
        lines=tuple(PlanLine(key, old, new) for key, old, new in pairs if old != new),
        read=(json.dumps(dict(before), sort_keys=True),),
        touches=tuple(_touches(asks_person, others, is_removed=not after)),
        losses=(_UNGUARDED,) if not after else (),
        # Whether a changed rule is weaker than before is not judged.
        safe_because="" if before else _HOLDS_UP,
        undo="make it again: the form for a new one offers it." if not after else "remove it, or change it back.",
        obstacle=obstacle,
    )


def _touches(asks_person: bool, others: int, *, is_removed: bool) -> list[str]:
    if is_removed:
        return ["What waits because of it goes on waiting, and may then be made."]
    if not asks_person:
        return ["It applies to every way of changing: pages, the API, files."]
    accounts = f"{others} other account{'' if others == 1 else 's'}"
    return [
        f"A user who confirms such a change proposes it; {accounts} may change something and could approve one.",
        "From then on a change of these rules needs a second person, too.",
    ]


def _shown(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
