"""A cluster added, changed or removed on a page, as a plan. Pure; of a secret it tells whether there is another."""

from collections.abc import Mapping
from typing import Any

from console.kit.gateway.errors import OTHER
from console.kit.plans.plan import Plan, PlanLine
from console.state.clusters.reset_cluster import WHAT_GOES

AFRESH = "start afresh"
ADD, CHANGE, REMOVE = "add cluster", "change cluster", "remove cluster"
OBJECT_TYPE = "cluster"
_PEM = ("authorities", "certificate")


def keep_plan(
    name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any], prints: Mapping[str, str], obstacle: str = ""
) -> Plan:
    """Plan a cluster. `prints` stand for changed secrets. Without differences there are no lines."""
    old = before or {}
    pairs = [(key, _shown(key, old.get(key)), _shown(key, after.get(key))) for key in sorted({*old, *after})]
    lines = [PlanLine(key, was, then) for key, was, then in pairs if old.get(key) != after.get(key)]
    lines += [PlanLine(key, "kept secretly" if before else None, "another, kept secretly") for key in sorted(prints)]
    return Plan(
        action=CHANGE if before else ADD,
        object_type=OBJECT_TYPE,
        object_name=name,
        clusters=(name,),
        lines=tuple(lines),
        read=(*(f"{key}={old[key]}" for key in sorted(old)), *(f"{key} {prints[key]}" for key in sorted(prints))),
        touches=(_AGAIN, "It is looked at by a process of its own, which takes some 60 MB."),
        losses=("The passwords and keys of before are not kept here.",) if before and prints else (),
        safe_because="Only this console's own knowledge of the cluster changes; the cluster is not touched.",
        undo="change it back; secrets of before are not kept." if before else "remove it again.",
        obstacle=obstacle,
    )


def remove_plan(name: str, before: Mapping[str, Any]) -> Plan:
    return Plan(
        action=REMOVE,
        object_type=OBJECT_TYPE,
        object_name=name,
        clusters=(name,),
        lines=tuple(PlanLine(key, _shown(key, before[key]), None) for key in sorted(before)),
        read=tuple(f"{key}={before[key]}" for key in sorted(before)),
        touches=(_AGAIN, "The cluster itself is not touched, and what was known of it stays in its database."),
        losses=("Its passwords and keys are deleted here: type them again to add it again.",),
        undo="add it again.",
        typed_name=name,
    )


def afresh_plan(name: str, known: str, error: str, obstacle: str = "") -> Plan:
    """Plan adopting another cluster than the `known` one; `error`: why the brokers are not asked."""
    is_other = error.startswith(OTHER)
    return Plan(
        action=AFRESH,
        object_type=OBJECT_TYPE,
        object_name=name,
        clusters=(name,),
        lines=(PlanLine("cluster_id", known, None),),
        read=(f"cluster_id={known}", error),
        touches=(_AGAIN, "The cluster that answers is looked at then, as one that nothing is known of."),
        losses=(WHAT_GOES.format(old=known or "a cluster without an id", name=name),),
        command=f"python -m console start_afresh {name} --yes",
        typed_name=name,
        obstacle=obstacle if is_other else _NO_OTHER,
    )


_NO_OTHER = "No other cluster answers than the one that is known: there is nothing to forget."
_AGAIN = (
    "The console's own processes start again, as soon as what keeps them running sees it: pages wait for some seconds, "
    "and brokers and jobs go on."
)


def _shown(key: str, value: Any) -> object:
    """Return the value to show; certificates are shortened."""
    if value in (None, ""):
        return None
    return "PEM" if key in _PEM else value
