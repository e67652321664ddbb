"""Changing what groups have committed, as planned; the former offsets are kept first, so that it can be taken back."""

from collections.abc import Callable

from django.contrib.auth.models import User

from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import ClusterUnreachableError, RefusedError
from console.kit.gateway.groups.interface import GroupGateway, TopicPartition
from console.kit.plans.apply import Refusals, carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation, Plan
from console.state.consumers.many import DeletionOfGroups
from console.state.consumers.reset import Reset, flat

#: What was refused, and what takes back the rest (None: nothing was changed).
Done = tuple[Refusals, KeptInverse | None]


def do_reset_offsets(actor: User, plan: Plan, reset: Reset, confirmation: Confirmation) -> Done:
    """Commit the new offsets; what was refused, and what takes it back. Raises NotConfirmedError, GatewayError."""
    return change_keeping(actor, plan, reset, confirmation, lambda: put_offsets(_groups(), plan.object_name, reset))


def do_delete_group(actor: User, plan: Plan, reset: Reset, confirmation: Confirmation) -> Done:
    """Delete the group, as above; members that joined prevent it."""

    def delete() -> dict[TopicPartition, str]:
        _groups().delete_group(plan.object_name)
        return {}

    return change_keeping(actor, plan, reset, confirmation, delete)


def do_forget_offsets(actor: User, plan: Plan, reset: Reset, confirmation: Confirmation) -> Done:
    """Delete the offsets of one topic, as above."""
    places = [move.place for move in reset.moves]

    def forget() -> dict[TopicPartition, str]:
        if not reset.is_share:
            return dict(_groups().delete_offsets(plan.object_name, places).why)
        refused = _groups().delete_share_offsets(plan.object_name, sorted({topic for topic, _ in places}))
        return {place: refused[place[0]] for place in places if place[0] in refused}

    return change_keeping(actor, plan, reset, confirmation, forget)


def do_delete_groups(actor: User, deletion: DeletionOfGroups, confirmation: Confirmation) -> Refusals:
    """Delete each of the groups; what was refused, by name. Raises NotConfirmedError; it is all in the audit."""
    return carry_out(actor, deletion.plan, confirmation, lambda: _delete_each(actor, deletion))


def _delete_each(actor: User, deletion: DeletionOfGroups) -> Refusals:
    """Delete each group; one failure does not stop others; an unreachable cluster is asked once."""
    refused: dict[str, str] = {}
    names = list(deletion.deletions)
    for place, (name, (plan, reset)) in enumerate(deletion.deletions.items()):
        kept = save_inverse(actor, plan, reset.former) if reset.moves else None
        try:
            _groups().delete_group(name)
        except ClusterUnreachableError as error:
            return refused | dict.fromkeys(names[place:], str(error))
        except RefusedError as error:
            if kept is not None:
                kept.delete()
            refused[name] = str(error)
    return refused


def put_offsets(groups: GroupGateway, group_id: str, reset: Reset) -> dict[TopicPartition, str]:
    """Commit what `reset` says, now; why not, by place."""
    wanted = flat(reset.wanted)
    set_to = {place: offset for place, offset in wanted.items() if offset is not None}
    taken_away = [place for place, offset in wanted.items() if offset is None]
    put = groups.set_share_offsets if reset.is_share else groups.commit_offsets
    refused = dict(put(group_id, set_to).why) if set_to else {}
    if taken_away:
        refused.update(groups.delete_offsets(group_id, taken_away).why)
    return refused


def change_keeping(
    actor: User,
    plan: Plan,
    reset: Reset,
    confirmation: Confirmation,
    change: Callable[[], dict[TopicPartition, str]],
) -> Done:
    """Keep the offsets that change, then make the planned `change`."""
    kept: list[KeptInverse] = []

    def do() -> Refusals:
        if reset.moves:
            kept.append(save_inverse(actor, plan, reset.former))
        try:
            refused = change()
        except RefusedError:
            for inverse in kept:
                inverse.delete()
            raise
        return {f"{topic}-{partition}": why for (topic, partition), why in refused.items()}

    refused = carry_out(actor, plan, confirmation, do)
    return refused, kept[0] if kept else None


def _groups() -> GroupGateway:
    return cluster_gateway().groups
