"""A change of access lists with all that comes of it, as it is shown and confirmed."""

from dataclasses import dataclass

from console.cluster.acls.effects import AclChange, Effects, concerned, effects
from console.cluster.acls.kept import as_text
from console.cluster.acls.plan import RULES_MAX, change_plan
from console.cluster.acls.queries import known_names, seen_principals
from console.kit.common.current_cluster import here
from console.kit.gateway.acls.interface import AclView
from console.kit.plans.plan import Plan

#: Rules, and effects, shown one by one on a plan.
SHOWN_MAX = 100


@dataclass(frozen=True, slots=True)
class PlannedAcls:
    """A change with what comes of it."""

    change: AclChange
    effects: Effects
    plan: Plan

    @property
    def shown(self) -> dict[str, object]:
        differences, lines = self.effects.listed, self.plan.lines
        return {
            "plan": self.plan,
            "effects": differences[:SHOWN_MAX],
            "hidden_effects": max(0, len(differences) - SHOWN_MAX),
            "lines": lines[:SHOWN_MAX],
            "hidden_lines": max(0, len(lines) - SHOWN_MAX),
            "fields": [("change", as_text(self.change))],
            "verb": _verb(self.change),
        }


def planned(view: AclView, wanted: AclChange) -> PlannedAcls:
    """Return the part of `wanted` that makes a difference now."""
    change = AclChange.real(view, wanted.added, wanted.removed)
    is_too_much = len(change.rules) > RULES_MAX
    principals = concerned(view, change, seen_principals(view)) if change.rules and not is_too_much else ()
    acl_effects = effects(view, change, principals, lambda resource: known_names(view, resource))
    return PlannedAcls(change, acl_effects, change_plan(view, change, acl_effects, here.BOOTSTRAP_SERVERS))


def _verb(change: AclChange) -> str:
    count = len(change.rules)
    does = "Change" if change.added and change.removed else "Delete" if change.removed else "Create"
    return f"{does} {count:,} rule{'' if count == 1 else 's'}"
