"""The page that moves a consumer group to the other cluster of a mirror, there and back: the plan first."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from console.ecosystem.mirrors.actions import do_move_group
from console.ecosystem.mirrors.ends import reachable, with_clusters
from console.ecosystem.mirrors.group_move import Ends, GroupMoveState, back, look, move_plan
from console.kit.access.reach import Resource
from console.kit.access.read_only import why_read_only
from console.kit.access.rights import Right, reach_in, reach_of, require_on, require_somewhere
from console.kit.common.current_cluster import in_cluster
from console.kit.common.user_request import UserRequest
from console.kit.gateway.groups.interface import is_ledger
from console.kit.plans.apply import Refusals
from console.kit.plans.inverse import find_inverse
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import is_confirmed, refusable
from console.state.consumers.access import READS_BEYOND, groups_within
from console.state.consumers.reset import flat

GROUP_NAME_LENGTH_MAX = 249
#: Names a form offers, partitions listed one by one.
OFFERED, SHOWN = 500, 200
BEYOND_THERE = "In the other cluster your rights do not reach this group, so it is not yours to move."


@require_http_methods(["GET", "HEAD", "POST"])
def move_group(request: UserRequest) -> HttpResponse:
    """Move a group: `flow` and `group` are chosen; with `undo` former offsets of the target are put back."""
    require_somewhere(request.user, Resource.GROUP, Right.OPERATE)
    parameters = request.POST if request.method == "POST" else request.GET
    group, flow = parameters.get("group", "").strip()[:GROUP_NAME_LENGTH_MAX], parameters.get("flow", "")[:201]
    known = reachable()
    context: dict[str, Any] = {"known": known.values(), "group": group, "flow": flow, "offered": _offered(request)}
    if not group:
        return render(request, "mirrors/move-group.html", context)
    require_on(request.user, Resource.GROUP, group, Right.OPERATE)
    if is_ledger(group):
        raise Http404(f"{group} is the ledger of a stream job, no consumer group.")
    if flow not in known:
        raise Http404(f"No mirror whose two clusters are known here copies {flow}.")
    with refusable(422 if request.method == "POST" else 200) as answer:
        ends = with_clusters(known[flow])
        _require_group_there(request, ends, group)
        return _planned(request, ends, group, context, parameters.get("undo", ""))
    return render(request, "mirrors/move-group.html", context | {"error": answer.error}, status=answer.status)


def _planned(request: UserRequest, ends: Ends, group: str, context: dict[str, Any], undo: str) -> HttpResponse:
    kept = find_inverse(*ends.object_of(group), undo)
    state = look(ends, group) if kept is None else back(ends, group, flat(kept.values))
    _require_topics(request, state, ends)
    plan = move_plan(ends, group, state, is_undo=kept is not None, read_only=_why_read_only_there(ends))
    count = len(state.reset.moves)
    context |= {
        "ends": ends,
        "group_state": state,
        "plan": plan,
        "kept": kept,
        "moves": state.reset.moves[:SHOWN],
        "hidden_count": max(0, count - SHOWN),
        "stays": state.reset.stays[:SHOWN],
        "left_behind": state.left_behind[:SHOWN],
        "fields": [("group", group), ("flow", ends.flow), *([("undo", kept.pk)] if kept else [])],
        "verb": f"Commit {count} offset{'' if count == 1 else 's'} in {ends.target_name}",
    }
    if is_confirmed(request):
        confirmation = Confirmation.parse(request.POST)
        refused, taken_back_by = do_move_group(request.user, plan, ends, group, state.reset, confirmation)
        _add_messages(request, plan, ends, group, refused, taken_back_by)
        return redirect(f"{reverse('mirror-group-move')}?{urlencode({'group': group, 'flow': ends.flow})}")
    return render(request, "mirrors/move-group.html", context)


def _add_messages(
    request: UserRequest, plan: Plan, ends: Ends, group: str, refused: Refusals, kept: KeptInverse | None
) -> None:
    for place, why in sorted(refused.items())[:5]:
        messages.warning(request, f"{place} was not changed: {why}")
    if len(refused) < len(plan.lines):
        query = urlencode({"group": group, "flow": ends.flow, "undo": kept.pk if kept else ""})
        address = f"{reverse('mirror-group-move')}?{query}"
        undo = format_html(' <a href="{}">Plan the undo…</a>', address) if kept else ""
        messages.success(
            request, format_html("{} goes on in {} from the offsets of the plan.{}", group, ends.target_name, undo)
        )


def _require_group_there(request: UserRequest, ends: Ends, group: str) -> None:
    """Require rights on an end that is another cluster of this console, by the rights there."""
    for names, right in ((ends.source_clusters, Right.VIEW), (ends.target_clusters, Right.OPERATE)):
        if any(right not in reach_in(request.user, name).rights_on(Resource.GROUP, group) for name in names):
            raise PermissionDenied(BEYOND_THERE)


def _require_topics(request: UserRequest, state: GroupMoveState, ends: Ends) -> None:
    """Require rights on the topics of both clusters, by their names; where an end is another cluster of this console,
    by the rights in that one.
    """
    reaches = [reach_of(request.user)]
    reaches += [reach_in(request.user, name) for name in ends.source_clusters | ends.target_clusters]
    if any(Right.VIEW not in reach.rights_on(Resource.TOPIC, topic) for topic in state.topics for reach in reaches):
        raise PermissionDenied(READS_BEYOND)


def _why_read_only_there(ends: Ends) -> str:
    for name in sorted(ends.target_clusters):
        with in_cluster(name):
            if read_only := why_read_only():
                return f"In {name}: {read_only}"
    return ""


def _offered(request: UserRequest) -> list[str]:
    return list(groups_within(reach_of(request.user)).order_by("name").values_list("name", flat=True)[:OFFERED])
