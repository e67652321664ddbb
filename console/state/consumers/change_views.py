"""Changing a group: the plan first, old beside new, then the change.

Like retention these pages ask the coordinator while they are drawn: a plan is made from what is true now.
"""

import json
from collections.abc import Iterable
from dataclasses import replace

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_safe

from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_on, require_somewhere
from console.kit.common.current_cluster import here
from console.kit.common.foreign_json import parse_foreign_json
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.groups.interface import SHARE, GroupView, TopicPartition, is_ledger
from console.kit.plans.apply import Refusals
from console.kit.plans.inverse import find_inverse, inverses_of
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import refusable
from console.state.clusters.access import topics_within
from console.state.clusters.models import Topic
from console.state.consumers.access import READS_BEYOND, access_group
from console.state.consumers.actions import do_delete_group, do_forget_offsets, do_reset_offsets
from console.state.consumers.forms import ResetForm
from console.state.consumers.models import ConsumerGroup
from console.state.consumers.removal import ACTION as DELETE
from console.state.consumers.removal import SHARE_ACTION as DELETE_SHARE
from console.state.consumers.removal import SHARE_FORGET as FORGET_SHARE
from console.state.consumers.removal import delete_plan, forget_plan, forgotten
from console.state.consumers.reset import SHARE_ACTION as RESET_SHARE
from console.state.consumers.reset import (
    Aim,
    Reset,
    ResetKind,
    aim_at,
    flat,
    obstacle_of,
    reset_by_aim,
    reset_command,
    reset_plan,
    reset_to,
)

#: Of a group's name, as much as a form takes.
GROUP_NAME_LENGTH_MAX = 249
#: Partitions listed one by one on a plan.
MOVES_SHOWN = 200
OBJECT_TYPE = "consumer group"
#: Lengths of time that are offered for going back, and their words.
REPLAYS = (("10m", "10 min"), ("1h", "1 h"), ("24h", "24 h"))
#: What these changed was a share group.
SHARE_ACTIONS = (RESET_SHARE, DELETE_SHARE, FORGET_SHARE)


@require_http_methods(["GET", "HEAD", "POST"])
def reset(request: UserRequest, group: str) -> HttpResponse:
    """Reset offsets, also of a deleted group, to restore them, and of one that has not started yet."""
    require_on(request.user, Resource.GROUP, group, Right.OPERATE)
    if is_ledger(group):
        raise Http404(f"{group} is the ledger of a stream job, no consumer group.")
    kept = inverses_of(OBJECT_TYPE, group)
    context: dict[str, object] = {"name": group, "kept": kept[:5], "replay": REPLAYS}
    with refusable(422 if request.method == "POST" else 200) as answer:
        view = _as_it_was(request, cluster_gateway().groups.describe_one(group))
        require_topics(request, places_of(view))
        context |= {
            "view": view,
            "obstacle": obstacle_of(view),
            "topics": sorted({topic for topic, _ in places_of(view)}),
        }
        if request.method != "POST":
            answer.status = _plan_asked(request, view, context)
        else:
            return _apply_reset(request, view, context)
    context.setdefault("form", _form(request))
    return render(request, "consumers/reset.html", context | {"error": answer.error}, status=answer.status)


@require_safe
def prepare(request: UserRequest) -> HttpResponse:
    """Prepare offsets for a group that has not started yet: after its name this is the reset page."""
    require_somewhere(request.user, Resource.GROUP, Right.OPERATE)
    name = request.GET.get("name", "").strip()[:GROUP_NAME_LENGTH_MAX]
    return redirect("group-reset", name) if name else render(request, "consumers/prepare.html")


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: UserRequest, group: str) -> HttpResponse:
    access_group(request.user, group, Right.OPERATE)
    return _removal(request, group, "")


@require_http_methods(["GET", "HEAD", "POST"])
def forget(request: UserRequest, group: str) -> HttpResponse:
    """Delete a group's offsets. `topic`: whose offsets are deleted."""
    consumer_group = access_group(request.user, group, Right.OPERATE)
    topic = request.POST.get("topic") or request.GET.get("topic", "")
    if topic not in consumer_group.topics:
        raise Http404(f"{group} has committed nothing in {topic}.")
    return _removal(request, group, topic)


def _plan_asked(request: UserRequest, view: GroupView, context: dict[str, object]) -> int:
    """Fill in the plan the address asks for; the status of the answer."""
    undo = find_inverse(OBJECT_TYPE, view.group_id, request.GET.get("undo", ""))
    if undo is not None:
        context["undo"] = undo
        require_topics(request, flat(undo.values))
        _show_plan(context, view, flat(undo.values))
    if undo is not None or "to" not in request.GET:
        return 200
    form = context["form"] = _form(request)
    if not form.is_valid():
        return 422
    aim = form.aim()
    groups, theirs = cluster_gateway().groups, _committed_by(request, view, aim)
    places = places_of(view) | _partitions_of(aim.topic) | theirs.keys()
    bounds = groups.bounds(places)
    by_time = groups.offsets_at(places, aim.at_ms) if aim.kind is ResetKind.TIME else {}
    aimed = aim_at(aim, places, view, bounds, by_time, theirs)
    _put(context, view, reset_by_aim(view, aimed, bounds))
    return 200


def _as_it_was(request: UserRequest, view: GroupView) -> GroupView:
    """Return a share group that was deleted as one: only by its type is it known how its offsets are put back."""
    if view.state != "Dead":
        return view
    undo = find_inverse(OBJECT_TYPE, view.group_id, request.GET.get("undo", ""))
    is_share = request.POST.get("type") == SHARE or (undo is not None and undo.action in SHARE_ACTIONS)
    return replace(view, group_type=SHARE) if is_share else view


def _committed_by(request: UserRequest, view: GroupView, aim: Aim) -> dict[TopicPartition, int]:
    """Return another group's commits, if the person may see it and all it reads. Raises GatewayError."""
    if aim.kind is not ResetKind.GROUP:
        return {}
    require_on(request.user, Resource.GROUP, aim.like, Right.VIEW)
    require_on(request.user, Resource.GROUP, view.group_id, Right.OPERATE)
    committed = dict(cluster_gateway().groups.describe_one(aim.like).committed)
    require_topics(request, committed)
    if not committed:
        raise RefusedError("GROUP_ID_NOT_FOUND", f"Group {aim.like} has committed nothing.")
    return committed


def _show_plan(
    context: dict[str, object], view: GroupView, wanted: dict[TopicPartition, int | None]
) -> tuple[Reset, Plan]:
    planned = reset_to(view, wanted, cluster_gateway().groups.bounds(wanted))
    return planned, _put(context, view, planned)


def _put(context: dict[str, object], view: GroupView, planned: Reset) -> Plan:
    plan = reset_plan(view, planned, reset_command(view, planned, here.BOOTSTRAP_SERVERS))
    context |= {
        "plan": plan,
        "moves": planned.moves[:MOVES_SHOWN],
        "hidden_count": max(0, len(planned.moves) - MOVES_SHOWN),
        "stays": planned.stays[:MOVES_SHOWN],
        "fields": [("offsets", json.dumps(planned.wanted)), *([("type", SHARE)] if planned.is_share else [])],
        "verb": f"Reset {len(planned.moves)} offset{'' if len(planned.moves) == 1 else 's'}",
    }
    return plan


def _apply_reset(request: UserRequest, view: GroupView, context: dict[str, object]) -> HttpResponse:
    wanted = _wanted(request)
    require_topics(request, wanted)
    planned, plan = _show_plan(context, view, wanted)
    refused, kept = do_reset_offsets(request.user, plan, planned, Confirmation.parse(request.POST))
    return _show_result(request, plan, refused, kept, f"Offsets of {view.group_id} were reset.")


def require_topics(request: UserRequest, places: Iterable[TopicPartition]) -> None:
    """Raise PermissionDenied unless the topics of all `places` are in reach.

    What a group reads now, and what is put back, may be more than the collector has seen.
    """
    reach = reach_of(request.user)
    if any(Right.VIEW not in reach.rights_on(Resource.TOPIC, topic) for topic in {topic for topic, _ in places}):
        raise PermissionDenied(READS_BEYOND)


def _wanted(request: UserRequest) -> dict[TopicPartition, int | None]:
    try:
        return flat(parse_foreign_json(request.POST.get("offsets", "")))
    except (ValueError, RecursionError):
        return {}


def _removal(request: UserRequest, name: str, topic: str) -> HttpResponse:
    """Plan to delete a group (no topic), or its offsets in one."""
    context: dict[str, object] = {"name": name, "topic": topic, "fields": [("topic", topic)] if topic else []}
    with refusable(422 if request.method == "POST" else 200) as answer:
        view = cluster_gateway().groups.describe_one(name)
        require_topics(request, places_of(view))
        planned = forgotten(view, topic)
        if topic:
            plan = forget_plan(view, topic, planned, here.BOOTSTRAP_SERVERS)
        else:
            plan = delete_plan(view, planned, here.BOOTSTRAP_SERVERS)
        context |= {
            "plan": plan,
            "view": view,
            "moves": planned.moves[:MOVES_SHOWN],
            "hidden_count": max(0, len(planned.moves) - MOVES_SHOWN),
        }
        if request.method == "POST":
            do = do_forget_offsets if topic else do_delete_group
            refused, kept = do(request.user, plan, planned, Confirmation.parse(request.POST))
            what = f"Offsets of {name} in {topic} were deleted." if topic else f"Consumer group {name} was deleted."
            return _show_result(request, plan, refused, kept, what)
    return render(request, "consumers/removal.html", context | {"error": answer.error}, status=answer.status)


def _show_result(
    request: UserRequest, plan: Plan, refused: Refusals, kept: KeptInverse | None, what: str
) -> HttpResponse:
    for place, why in sorted(refused.items())[:5]:
        messages.warning(request, f"{place} was not changed: {why}")
    if len(refused) < len(plan.lines):
        address = reverse("group-reset", args=[plan.object_name])
        undo = format_html(' <a href="{}?undo={}">Plan the undo…</a>', address, kept.pk) if kept else ""
        messages.success(request, format_html("{}{}", what, undo))
    is_there = ConsumerGroup.objects.filter(name=plan.object_name).exists()
    if plan.action in (DELETE, DELETE_SHARE) or not is_there:
        return redirect("consumers")
    return redirect("group", plan.object_name)


def _form(request: UserRequest) -> ResetForm:
    seen = topics_within(reach_of(request.user))
    parameters = request.GET if "to" in request.GET else None
    initial = {"topic": request.GET.get("topic", ""), "to": ResetKind.EARLIEST}
    return ResetForm(lambda topic: seen.filter(name=topic).exists(), parameters, initial=initial)


def _partitions_of(topic: str) -> set[TopicPartition]:
    """Return the topic's partitions, also without a commit, so that offsets can be set before the group has read
    anything.
    """
    topic_row = Topic.objects.filter(name=topic).first() if topic else None
    return {(topic, index) for index in range(topic_row.partition_count)} if topic_row else set()


def places_of(view: GroupView) -> set[TopicPartition]:
    return set(view.committed).union(*(member.assigned for member in view.members))
