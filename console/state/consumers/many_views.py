"""Several groups at once: those that were selected in the list, one plan for all of them, confirmed once."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.kit.access.reach import Resource
from console.kit.access.rights import Right, require_somewhere
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import RefusedError
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable
from console.state.consumers.access import access_group
from console.state.consumers.actions import do_delete_groups
from console.state.consumers.change_views import places_of, require_topics
from console.state.consumers.many import GROUPS_MAX, counted, deletion_of_groups


@require_http_methods(["GET", "HEAD", "POST"])
def many(request: UserRequest) -> HttpResponse:
    """Delete many groups: `group`, as often as wanted."""
    require_somewhere(request.user, Resource.GROUP, Right.OPERATE)
    names = list(dict.fromkeys((request.POST if request.method == "POST" else request.GET).getlist("group")))
    for name in names[:GROUPS_MAX]:
        access_group(request.user, name, Right.OPERATE)
    require_somewhere(request.user, Resource.GROUP, Right.OPERATE)
    context: dict[str, object] = {"fields": [("group", name) for name in names]}
    with refusable(422 if request.method == "POST" else 200) as answer:
        if not 0 < len(names) <= GROUPS_MAX:
            raise RefusedError("INVALID_REQUEST", f"Select 1 to {GROUPS_MAX} groups in the list of groups.")
        views = [cluster_gateway().groups.describe_one(name) for name in names]
        for view in views:
            require_topics(request, places_of(view))
        deletion = deletion_of_groups(views, here.BOOTSTRAP_SERVERS)
        context["plan"] = deletion.plan
        if request.method == "POST":
            refused = do_delete_groups(request.user, deletion, Confirmation.parse(request.POST))
            for name, why in list(refused.items())[:5]:
                messages.warning(request, f"{name} was not deleted: {why}")
            if done := len(names) - len(refused):
                messages.success(request, f"{counted(done)} deleted. Undo: the reset page of each has its offsets.")
            return redirect("consumers")
    return render(request, "consumers/many.html", context | {"error": answer.error}, status=answer.status)
