"""The settings tab of a topic. It asks the brokers while it is drawn, as the retention tab does."""

from urllib.parse import urlencode

from django.conf import settings as django_settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from console.access.rights import Right
from console.clusters.access import access_topic
from console.clusters.models import Topic
from console.common.csv_table import csv_response, wants_csv
from console.gateway.connect import cluster_gateway
from console.gateway.errors import GatewayError
from console.gateway.setting_rules import topic_value_refusal
from console.plans.plan import Confirmation, Plan
from console.plans.setting import DEFAULT, change_plan, plain_value
from console.plans.views import refusable
from console.topics.actions import do_change_setting
from console.topics.settings_plan import RETENTION_KEYS, changeable, topic_target, with_cautions

VALUE_LENGTH_MAX = 2_000
TITLES = ("setting", "value", "source", "kafkas_default", "meaning")


@require_safe
def topic_settings(request: HttpRequest, name: str) -> HttpResponse:
    topic = access_topic(request.user, name, Right.VIEW)
    setting, value = request.GET.get("setting", ""), _value(request.GET)
    if wants_csv(request):
        try:
            found = cluster_gateway().topic_settings(topic.name)
        except GatewayError as error:
            return _page(request, topic, error=str(error))
        rows = ((each.name, each.value, each.source, each.default, each.meaning) for each in found)
        return csv_response(request, f"settings-{topic.name}", TITLES, rows)
    refused = _refusal(setting, value)
    return _page(request, topic, setting, value, refused=refused, status=422 if refused else 200)


@require_POST
def change(request: HttpRequest, name: str) -> HttpResponse:
    """Apply a plan that was shown; what does not hold any more shows the plan for how it is now."""
    topic = access_topic(request.user, name, Right.OPERATE)
    setting, value = request.POST.get("setting", ""), _value(request.POST)
    if refused := _refusal(setting, value):
        return _page(request, topic, setting, value, refused=refused, status=422)
    with refusable() as answer:
        plan = _plan(topic, cluster_gateway().topic_settings(topic.name), setting, value)
        if plan is None:
            raise Http404("There is no such setting to change here.")
        do_change_setting(request.user, plan, Confirmation.parse(request.POST))
        if plan.is_empty:
            messages.info(request, "Nothing differs: nothing was changed.")
            return redirect("topic-settings", topic.name)
        messages.success(request, f"{setting} of {topic.name} was changed.")
        undo = urlencode({"undo": setting, "undo_value": plan.lines[0].old})
        return redirect(f"{reverse('topic-settings', args=[topic.name])}?{undo}")
    return _page(request, topic, setting, value, answer.error, answer.status)


def _page(
    request: HttpRequest,
    topic: Topic,
    setting: str = "",
    value: str = "",
    error: str = "",
    status: int = 200,
    refused: str = "",
) -> HttpResponse:
    context = {"topic": topic, "error": error, "setting": setting, "value": value, "retention_keys": RETENTION_KEYS}
    context["refused"] = refused
    context["undo"] = {"setting": request.GET.get("undo", ""), "value": request.GET.get("undo_value", "")}
    try:
        found = cluster_gateway().topic_settings(topic.name)
    except GatewayError as refusal:
        context["error"] = error or str(refusal)
    else:
        chosen = changeable(found).get(setting)
        context |= {"settings": found, "chosen": chosen, "fields": [("setting", setting), ("value", value)]}
        context["plan"] = _plan(topic, found, setting, value) if value and not refused else None
    return render(request, "topics/settings.html", context, status=status)


def _plan(topic: Topic, found, setting: str, value: str) -> Plan | None:
    known = changeable(found).get(setting)
    if known is None:
        return None
    own = (known.value or "") if known.source == "topic" else None
    target = with_cautions(topic_target(topic.name), setting, value, topic.replication_factor)
    return change_plan(target, known, own, value, django_settings.BOOTSTRAP_SERVERS)


def _value(parameters: QueryDict) -> str:
    return plain_value(parameters.get("setting", ""), parameters.get("value", "").strip()[:VALUE_LENGTH_MAX])


def _refusal(setting: str, value: str) -> str:
    """Why no plan is made of it: what no broker would take is told before anything is confirmed."""
    return "" if value in ("", DEFAULT) else topic_value_refusal(setting, value)
