"""The deletion of several consumer groups as one plan. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from console.kit.common.figures import grouped
from console.kit.gateway.groups.interface import SHARE, GroupView
from console.kit.plans.plan import Plan, PlanLine
from console.state.consumers.removal import delete_plan, forgotten
from console.state.consumers.reset import Reset

ACTION = "delete consumer groups"
#: Of one plan, so that a person can read it; the coordinator of each is asked.
GROUPS_MAX = 50


@dataclass(frozen=True, slots=True)
class DeletionOfGroups:
    """`deletions` has the deletion of each group alone by its name, with the offsets that go with it."""

    plan: Plan
    deletions: Mapping[str, tuple[Plan, Reset]]


def deletion_of_groups(groups: Sequence[GroupView], bootstrap_servers: str) -> DeletionOfGroups:
    """Return the deletion of all `groups`, each as its own deletion has it; one obstacle keeps all of them."""
    deletions: dict[str, tuple[Plan, Reset]] = {}
    for group in sorted(groups, key=lambda group: group.group_id):
        reset = forgotten(group)
        deletions[group.group_id] = (delete_plan(group, reset, bootstrap_servers), reset)
    plans = {name: alone for name, (alone, _) in deletions.items()}
    plan = Plan(
        action=ACTION,
        object_type="consumer groups",
        object_name=counted(len(groups)),
        lines=tuple(
            PlanLine(group.group_id, _words(group), None) for group in sorted(groups, key=lambda it: it.group_id)
        ),
        read=tuple(f"{name}: {text}" for name, alone in plans.items() for text in alone.read),
        safe_because="",
        losses=tuple(dict.fromkeys(loss for alone in plans.values() for loss in alone.losses)),
        undo="the offsets of each group are kept, and can be put back from its reset page; its name then exists again.",
        command="\n".join(alone.command for alone in plans.values()),
        typed_name=f"delete {counted(len(groups))}",
        about=tuple(plans),
        obstacle=next((f"{name}: {alone.obstacle}" for name, alone in plans.items() if alone.obstacle), ""),
    )
    return DeletionOfGroups(plan, deletions)


def counted(count: int) -> str:
    """Return `1 group` or `3 groups`."""
    return f"{grouped(count)} group{'' if count == 1 else 's'}"


def _words(group: GroupView) -> str:
    count = len(group.committed)
    kind = "start offset" if group.group_type == SHARE else "committed offset"
    return f"{group.state}, {grouped(count)} {kind}{'' if count == 1 else 's'}"
