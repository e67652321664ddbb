"""The page of the KRaft quorum. It asks the cluster while it is drawn: its figures are of use only fresh."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.quorum.members import is_writable, members_of
from console.kit.access.rights import Right, require
from console.kit.common.clock import now_ms
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError


@require_safe
def quorum(request: UserRequest) -> HttpResponse:
    """Names no topic and no group, so it is for every user who may look at the cluster."""
    require(request.user, Right.VIEW)
    context: dict[str, object] = {}
    gateway = cluster_gateway().quorum
    try:
        view = gateway.describe()
        members = members_of(view, now_ms())
        context |= {"quorum": view, "members": members, "is_writable": is_writable(view, members)}
    except GatewayError as error:
        context["error"] = str(error)
    try:
        context["features"] = gateway.features()
    except GatewayError as error:
        context.setdefault("error", str(error))
    return render(request, "quorum/page.html", context)
