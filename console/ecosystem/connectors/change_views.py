"""Pages that plan what is done to a connector: paused, stopped, resumed, restarted, deleted."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from console.ecosystem.connectors.access import access_connector
from console.ecosystem.connectors.actions import do_connector_action, do_delete, do_restart_task
from console.ecosystem.connectors.answers import ConnectorView
from console.ecosystem.connectors.client import connect_client
from console.ecosystem.connectors.declarations import declared_secrets
from console.ecosystem.connectors.places import group_of
from console.ecosystem.connectors.plan import (
    DEEDS,
    RESTART,
    ConnectorChange,
    configuration_plan,
    connector_action_plan,
    fails_again,
    task_plan,
)
from console.ecosystem.connectors.sealing import print_of
from console.kit.access.internal_topics import internal_topics
from console.kit.access.rights import Right
from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import is_confirmed, refusable

_METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(_METHODS)
def do(request: UserRequest, name: str, deed: str) -> HttpResponse:
    access_connector(request.user, name, Right.OPERATE)
    if deed not in DEEDS:
        raise Http404("Nothing of this kind can be done to a connector.")
    chosen = DEEDS[deed]

    def carry_out(plan: Plan, confirmation: Confirmation) -> None:
        do_connector_action(request.user, plan, deed, confirmation)

    def plan_of(view: ConnectorView) -> Plan:
        return connector_action_plan(chosen, view, connect_client().address)

    address = reverse("connector-do", args=[name, deed])
    return _page(request, name, chosen.verb, address, plan_of, carry_out)


@require_http_methods(_METHODS)
def restart_task(request: UserRequest, name: str, task: int) -> HttpResponse:
    access_connector(request.user, name, Right.OPERATE)

    def carry_out(plan: Plan, confirmation: Confirmation) -> None:
        do_restart_task(request.user, plan, task, confirmation)

    def plan_of(view: ConnectorView) -> Plan:
        return task_plan(view, task, connect_client().address)

    address = reverse("connector-restart-task", args=[name, task])
    return _page(
        request, name, DEEDS[RESTART].verb.replace("the connector", f"task {task}"), address, plan_of, carry_out
    )


@require_http_methods(_METHODS)
def delete(request: UserRequest, name: str) -> HttpResponse:
    """Delete a connector. Its consumer group or source offsets stay, as the plan says."""
    access_connector(request.user, name, Right.ADMINISTER)
    context: dict[str, object] = {"name": name, "verb": "Delete", "address": reverse("connector-delete", args=[name])}
    with refusable() as answer:
        view = connect_client().connector(name)
        change = _deletion(view)
        group = group_of(name, view.config) if view.kind == "sink" else ""
        plan = context["plan"] = configuration_plan(change, connect_client().address, internal_topics(), group)
        if is_confirmed(request):
            do_delete(request.user, plan, view.config, change.declared, Confirmation.parse(request.POST))
            messages.success(request, f"{name} is deleted.")
            return redirect("connectors")
    return render(request, "connectors/change.html", context | {"error": answer.error}, status=answer.status)


def _deletion(view: ConnectorView) -> ConnectorChange:
    declared = declared_secrets().of([view.class_name]).get(view.class_name, frozenset())
    prints = {key: print_of(value) for key, value in view.config.items()}
    return ConnectorChange(view.name, view.config, None, declared, prints)


def _page(
    request: UserRequest,
    name: str,
    verb: str,
    address: str,
    plan_of: Callable[[ConnectorView], Plan],
    carry_out: Callable[[Plan, Confirmation], None],
) -> HttpResponse:
    context: dict[str, object] = {"name": name, "verb": verb, "address": address}
    with refusable() as answer:
        view = connect_client().connector(name)
        plan = context["plan"] = plan_of(view)
        context["configure_first"] = bool(again := fails_again(view)) and again in plan.touches
        if is_confirmed(request):
            carry_out(plan, Confirmation.parse(request.POST))
            messages.success(
                request, f"{name}: {plan.action.replace(' of connector', '').replace(' connector', '')}, as asked."
            )
            return redirect("connector", name)
    return render(request, "connectors/change.html", context | {"error": answer.error}, status=answer.status)
