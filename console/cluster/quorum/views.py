"""The pages of the KRaft quorum and of features, and the upgrade of one. They ask the cluster while they are drawn."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.cluster.quorum.members import is_writable, members_of
from console.cluster.quorum.upgrade import MEANINGS, FeatureUpgradePlan, upgrade_plan
from console.kit.access.rights import Right, require
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.gateway.quorum.metadata_versions import level_text
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable

#: Digits of a level: Kafka writes it as 16 bits.
_LEVEL_LENGTH_MAX = 5


@require_safe
def quorum(request: UserRequest) -> HttpResponse:
    """Show the quorum, without names of topics and groups, to every user of the cluster."""
    require(request.user, Right.VIEW)
    context: dict[str, object] = {}
    gateway = cluster_gateway().quorum
    try:
        view = gateway.describe()
        members = members_of(view, now_ms())
        context |= {"quorum": view, "members": members, "is_writable": is_writable(view, members)}
    except GatewayError as error:
        context["error"] = str(error)
    return render(request, "quorum/page.html", context)


@require_safe
def features(request: UserRequest) -> HttpResponse:
    """Show what the brokers support and the cluster has finalized, as one broker says it."""
    require(request.user, Right.VIEW)
    context: dict[str, object] = {}
    try:
        context["features"] = [
            (feature, MEANINGS.get(feature.name, "")) for feature in cluster_gateway().quorum.features()
        ]
    except GatewayError as error:
        context["error"] = str(error)
    return render(request, "quorum/features.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def feature_upgrade(request: UserRequest, feature: str) -> HttpResponse:
    """Show the plan to raise `feature` to a `level` (the newest if none is named), then make the change."""
    require(request.user, Right.ADMINISTER)
    level = (request.POST if request.method == "POST" else request.GET).get("level", "")
    context: dict[str, object] = {"name": feature, "fields": [("level", level)] if level else []}
    with refusable(422 if request.method == "POST" else 200) as answer:
        plan = context["plan"] = _plan(feature, level)
        if request.method == "POST":
            carry_out(
                request.user,
                plan,
                Confirmation.parse(request.POST),
                lambda: cluster_gateway().quorum.upgrade(feature, plan.level),
            )
            messages.success(request, f"{feature} is at {level_text(feature, plan.level)} now.")
            return redirect("features")
    return render(request, "quorum/upgrade.html", context | {"error": answer.error}, status=answer.status)


def _plan(name: str, level: str) -> FeatureUpgradePlan:
    """Raises Http404 for what is no feature or no level, GatewayError."""
    gateway = cluster_gateway().quorum
    feature = next((known for known in gateway.features() if known.name == name), None)
    is_level = level.isascii() and level.isdecimal() and len(level) <= _LEVEL_LENGTH_MAX
    if feature is None or not (is_level or not level):
        raise Http404("There is no such feature, or this is no level of it.")
    plan = upgrade_plan(feature, int(level) if level else feature.supported_max, here.BOOTSTRAP_SERVERS)
    if plan.obstacle:
        return plan
    try:
        gateway.check_upgrade(name, plan.level)
    except RefusedError as error:
        return upgrade_plan(feature, plan.level, here.BOOTSTRAP_SERVERS, refusal=f"{str(error).rstrip('.')}.")
    return plan
