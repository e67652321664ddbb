"""The settings tab of a topic. It asks the brokers while it is drawn, as the retention tab does."""

from collections.abc import Iterable, Sequence
from functools import partial
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import get_text_list
from django.views.decorators.http import require_POST, require_safe

from console.cluster.topics.actions import do_change_settings
from console.cluster.topics.edits import Edit, address_of, checked, chosen_edits, read_edits
from console.cluster.topics.settings_plan import RETENTION_KEYS, changeable, settings_plan
from console.kit.access.rights import Right, reach_of
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.retention.interface import SettingView
from console.kit.plans.plan import Confirmation
from console.kit.plans.setting import SettingsPlan
from console.kit.plans.views import refusable
from console.state.clusters.access import access_changing, access_topic, rights_on_topic
from console.state.clusters.models import Topic

TITLES = ("setting", "value", "source", "kafkas_default", "meaning")


@require_safe
def topic_settings(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_topic(request.user, name, Right.VIEW)
    if wants_csv(request):
        try:
            topic_settings = cluster_gateway().topic_settings(topic.name)
        except GatewayError as error:
            return _page(request, topic, error=str(error))
        rows = ((view.name, view.value, view.source, view.default, view.meaning) for view in topic_settings)
        return csv_response(request, f"settings-{topic.name}", TITLES, rows)
    return _page(request, topic, read_edits(request.GET))


@require_POST
def change(request: UserRequest, name: str) -> HttpResponse:
    """Apply a plan that was shown; what does not hold any more shows the plan for how it is now."""
    topic = access_changing(request.user, name)
    edits = read_edits(request.POST)
    with refusable() as answer:
        topic_settings = cluster_gateway().topic_settings(topic.name)
        edits = _checked(topic, topic_settings, edits)
        if _are_refused(edits):
            return _page(request, topic, edits)
        plan = _plan(topic, topic_settings, edits)
        if plan is None:
            raise Http404("There is no such setting to change here.")
        do_change_settings(request.user, plan, Confirmation.parse(request.POST))
        if plan.is_empty:
            messages.info(request, "Nothing differs: nothing was changed.")
            return redirect("topic-settings", topic.name)
        names = [line.name for line in plan.lines]
        messages.success(
            request, f"{get_text_list(names, 'and')} of {topic.name} {'was' if len(names) == 1 else 'were'} changed."
        )
        undo = urlencode([pair for line in plan.lines for pair in (("undo", line.name), ("undo_value", line.old))])
        return redirect(f"{reverse('topic-settings', args=[topic.name])}?{undo}")
    return _page(request, topic, edits, answer.error, answer.status)


def _page(
    request: UserRequest, topic: Topic, edits: Sequence[Edit] = (), error: str = "", status: int = 200
) -> HttpResponse:
    context = {"topic": topic, "error": error, "retention_keys": RETENTION_KEYS, "undo": _undo(request)}
    try:
        topic_settings = cluster_gateway().topic_settings(topic.name)
        if Right.OPERATE in rights_on_topic(reach_of(request.user), topic):
            edits = _checked(topic, topic_settings, edits)
    except GatewayError as refusal:
        context["error"] = error or str(refusal)
    else:
        status = 422 if _are_refused(edits) and status == 200 else status
        chosen = chosen_edits(edits, topic_settings)
        plan = None if _are_refused(edits) else _plan(topic, topic_settings, [item.edit for item in chosen])
        context |= {"settings": topic_settings, "chosen": chosen, "plan": plan}
        context["fields"] = [(key, text) for item in chosen for key, text in _pair(item.edit)]
        context["others"] = sorted(changeable(topic_settings).keys() - {item.edit.name for item in chosen})
    return render(request, "topics/settings.html", context, status=status)


def _plan(topic: Topic, views: Iterable[SettingView], edits: Sequence[Edit]) -> SettingsPlan | None:
    """Return the plan; None while a value is missing, or a setting cannot be changed here."""
    if not edits or any(not edit.value for edit in edits):
        return None
    wanted = [(edit.name, edit.value) for edit in edits]
    return settings_plan(topic.name, topic.replication_factor, views, wanted, here.BOOTSTRAP_SERVERS, topic.topic_id)


def _checked(topic: Topic, views: Iterable[SettingView], edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return the edits with why the cluster refuses each of those that are changed here. Raises GatewayError."""
    known = changeable(views)
    if any(edit.name not in known for edit in edits):
        return tuple(edits)
    return checked(edits, partial(cluster_gateway().check_topic_settings, topic.name))


def _are_refused(edits: Sequence[Edit]) -> bool:
    return any(edit.refusal for edit in edits)


def _pair(edit: Edit) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("setting", edit.name), ("value", edit.value)


def _undo(request: UserRequest) -> str:
    """Return the query of a page that undoes the last change."""
    before = zip(request.GET.getlist("undo"), request.GET.getlist("undo_value"), strict=False)
    return address_of(Edit(name, value) for name, value in before)
