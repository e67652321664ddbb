"""The list of subscriptions to client metrics, and the form that changes one. Both ask the cluster."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.cluster.client_metrics.actions import do_change
from console.cluster.client_metrics.forms import SubscriptionForm
from console.cluster.client_metrics.plan import KEYS, ClientMetricsPlan, change_plan, deletion_plan
from console.kit.access.rights import NOT_ALL_NAMES, Right, require, sees_all_names
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.client_metrics.interface import ClientMetricsSubscription
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable

TITLES = ("name", *KEYS)


@require_safe
def subscription_list(request: UserRequest) -> HttpResponseBase:
    _require(request.user, Right.VIEW)
    context: dict[str, object] = {}
    try:
        subscriptions = cluster_gateway().client_metrics.subscriptions()
    except GatewayError as error:
        context["error"] = str(error)
    else:
        if wants_csv(request):
            rows = ((shown.name, *(shown.settings.get(key) for key in KEYS)) for shown in subscriptions)
            return csv_response(request, "client-metrics", TITLES, rows)
        context["subscriptions"] = [
            (shown.name, [(shown.settings.get(key, ""), key in shown.own) for key in KEYS]) for shown in subscriptions
        ]
    return render(request, "client_metrics/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def subscription_change(request: UserRequest) -> HttpResponse:
    """Show the form, then the plan it makes, then make the change: a post with the plan's digest confirms it."""
    _require(request.user, Right.OPERATE)
    context: dict[str, object] = {}
    form: SubscriptionForm | None = None
    with refusable() as outcome:
        known = {subscription.name: subscription for subscription in cluster_gateway().client_metrics.subscriptions()}
        form = SubscriptionForm(request.POST or None, initial=_initial(known.get(request.GET.get("name", ""))))
        context["form"] = form
        if request.method == "POST" and form.is_valid():
            plan = _plan(form, known.get(form.cleaned_data["name"]))
            context |= {"plan": plan, "fields": form.fields_again, "verb": plan.action.capitalize()}
            if is_confirmed(request):
                do_change(request.user, plan, Confirmation.parse(request.POST))
                messages.success(request, f"{plan.object_name}: done.")
                return redirect("client-metrics")
    status = 422 if outcome.status == 200 and form and form.errors else outcome.status
    return render(request, "client_metrics/change.html", context | {"error": outcome.error}, status=status)


def _plan(form: SubscriptionForm, before: ClientMetricsSubscription | None) -> ClientMetricsPlan:
    """Raises RefusedError for what the cluster does not take, GatewayError."""
    name = form.cleaned_data["name"]
    if form.cleaned_data["delete"]:
        if before is None:
            raise RefusedError("RESOURCE_NOT_FOUND", f"There is no subscription {name}.")
        return deletion_plan(before, here.BOOTSTRAP_SERVERS)
    plan = change_plan(name, form.wanted, before, here.BOOTSTRAP_SERVERS)
    if plan.changes:
        cluster_gateway().client_metrics.check(name, plan.changes)
    return plan


def _initial(subscription: ClientMetricsSubscription | None) -> dict[str, str]:
    if subscription is None:
        return {}
    own = subscription.own
    return {"name": subscription.name, **{key.replace(".", "_"): own.get(key, "") for key in KEYS}}


def _require(user: User, right: Right) -> None:
    """Require the right to see every name: a subscription names client ids and addresses."""
    require(user, right)
    if not sees_all_names(user):
        raise PermissionDenied(NOT_ALL_NAMES)
