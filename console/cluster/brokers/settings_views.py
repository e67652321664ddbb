"""The settings tab of a broker. It asks the brokers while it is drawn, as the settings tab of a topic does."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from console.cluster.brokers.actions import do_change_setting
from console.cluster.brokers.doors import opens_a_door
from console.cluster.brokers.drift import SettingRow, setting_rows
from console.cluster.brokers.export import SETTING_TITLES, setting_cells
from console.cluster.brokers.files import file_values
from console.cluster.brokers.plan import ALL, own_value, setting_target
from console.cluster.brokers.queries import process_of
from console.kit.access.reach import Resource
from console.kit.access.rights import NOT_ALL_TOPICS, REFUSALS, Right, has_right, reach_of, require_all_topics
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.brokers.interface import BrokerSetting
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.topics.setting_rules import broker_value_refusal
from console.kit.plans.plan import Confirmation
from console.kit.plans.setting import DEFAULT, SettingChange, SettingsPlan, change_plan, plain_value
from console.kit.plans.views import refusable
from console.state.clusters.access import access_broker
from console.state.clusters.models import Broker

#: Broker → its settings, as each broker that answered gives them.
_Settings: TypeAlias = Mapping[int, tuple[BrokerSetting, ...]]
VALUE_LENGTH_MAX = 2_000
DOOR = "The setting decides which clients the broker admits."
SHOWN = {
    "": "all",
    "changed": "set in the file or live",
    "drift": "drifting",
    "changeable": "changeable while running",
}


@dataclass(frozen=True, slots=True)
class SettingsQuery:
    """What the tab was asked for: which rows, and perhaps the change of one, for this broker or for all."""

    search: str = ""
    only: str = ""
    setting: str = ""
    value: str = ""
    is_for_all: bool = False

    @classmethod
    def parse(cls, parameters: QueryDict) -> "SettingsQuery":
        only = parameters.get("only", "")
        return cls(
            search=parameters.get("search", "").strip()[:100],
            only=only if only in SHOWN else "",
            setting=parameters.get("setting", "")[:249],
            value=plain_value(parameters.get("setting", ""), parameters.get("value", "").strip()[:VALUE_LENGTH_MAX]),
            is_for_all=parameters.get("scope") == ALL,
        )

    @property
    def right(self) -> Right:
        """Needed to have it changed."""
        return Right.ADMINISTER if opens_a_door(self.setting) else Right.OPERATE

    @property
    def refusal(self) -> str:
        """Why the value gets no plan; empty if it does."""
        return "" if self.value in ("", DEFAULT) else broker_value_refusal(self.setting, self.value)

    def chooses(self, row: SettingRow) -> bool:
        known = {
            "": True,
            "changed": row.is_changed,
            "drift": bool(row.drifts),
            "changeable": not row.setting.is_read_only,
        }
        text = f"{row.setting.name} {row.setting.meaning}".lower()
        return known[self.only] and self.search.lower() in text


@require_safe
def broker_settings(request: UserRequest, broker_id: int) -> HttpResponseBase:
    """Draw the tab. An open page that fetches itself anew takes its header alone, for which no broker is asked."""
    broker = access_broker(request.user, broker_id, Right.VIEW)
    query = SettingsQuery.parse(request.GET)
    if wants_csv(request):
        try:
            rows = [row for row in _rows(broker, cluster_gateway().brokers.settings()) if query.chooses(row)]
        except GatewayError as error:
            return _page(request, broker, query, error=str(error))
        return csv_response(request, f"broker-{broker_id}-settings", SETTING_TITLES, map(setting_cells, rows))
    if "X-Refresh" in request.headers:
        return render(request, "brokers/settings.html", {"broker": broker, "query": query})
    return _page(request, broker, query, status=422 if query.refusal else 200)


@require_POST
def change(request: UserRequest, broker_id: int) -> HttpResponse:
    """Apply a plan that was shown; what does not hold any more shows the plan for how it is now.

    What deletes records does so in whatever topics there are, so it needs the right to operate all of them; what opens
    a door to the broker is for administrators.
    """
    query = SettingsQuery.parse(request.POST)
    broker = access_broker(request.user, broker_id, query.right)
    if query.refusal:
        return _page(request, broker, query, status=422)
    with refusable() as answer:
        plan = _plan(broker, query, cluster_gateway().brokers.settings())
        if plan is None:
            raise Http404("There is no such setting to change here.")
        if plan.losses:
            require_all_topics(request.user, Right.OPERATE)
        do_change_setting(request.user, plan, Confirmation.parse(request.POST))
        return _changed(request, broker_id, query, plan)
    return _page(request, broker, query, answer.error, answer.status)


def _changed(request: UserRequest, broker_id: int, query: SettingsQuery, plan: SettingsPlan) -> HttpResponse:
    if plan.is_empty:
        messages.info(request, "Nothing differs: nothing was changed.")
        return redirect("broker-settings", broker_id)
    whose = "all brokers" if query.is_for_all else f"broker {broker_id}"
    messages.success(request, f"{query.setting} of {whose} was changed.")
    undo = {"undo": query.setting, "undo_value": plan.lines[0].old, "undo_scope": ALL if query.is_for_all else ""}
    return redirect(f"{reverse('broker-settings', args=[broker_id])}?{urlencode(undo)}")


def _page(
    request: UserRequest, broker: Broker, query: SettingsQuery, error: str = "", status: int = 200
) -> HttpResponse:
    context = {"broker": broker, "query": query, "error": error, "choices": SHOWN}
    context |= {"scopes": _scopes(broker), "scope": ALL if query.is_for_all else ""}
    context["undo"] = {
        "setting": request.GET.get("undo", ""),
        "value": request.GET.get("undo_value", ""),
        "scope": request.GET.get("undo_scope", ""),
    }
    try:
        settings = cluster_gateway().brokers.settings()
    except GatewayError as refusal:
        context["error"] = error or str(refusal)
        return render(request, "brokers/settings.html", context, status=status)
    rows = _rows(broker, settings)
    context |= {
        "is_silent": not rows,
        "rows": [row for row in rows if query.chooses(row)],
        "row_count": len(rows),
        "drift_count": sum(bool(row.drifts) for row in rows),
        "silent": sorted(_registered() - settings.keys()),
        "chosen": _chosen(broker, query, settings),
        "plan": _shown_plan(request, broker, query, settings) if query.value and not query.refusal else None,
        "refused": query.refusal,
        "fields": [("setting", query.setting), ("value", query.value), ("scope", ALL if query.is_for_all else "")],
    }
    return render(request, "brokers/settings.html", context, status=status)


def _scopes(broker: Broker) -> list[tuple[str, str]]:
    return [("", f"broker {broker.broker_id} alone"), (ALL, "all brokers")]


def _registered() -> set[int]:
    return set(Broker.objects.filter(is_registered=True).values_list("broker_id", flat=True))


def _rows(broker: Broker, settings: _Settings) -> tuple[SettingRow, ...]:
    return setting_rows(broker.broker_id, settings, file_values(process_of(broker.broker_id)))


def _chosen(broker: Broker, query: SettingsQuery, settings: _Settings) -> BrokerSetting | None:
    return next((setting for setting in settings.get(broker.broker_id, ()) if setting.name == query.setting), None)


def _shown_plan(request: UserRequest, broker: Broker, query: SettingsQuery, settings: _Settings) -> SettingsPlan | None:
    """Return the plan, with the refusal if the person may not have it carried out."""
    plan = _plan(broker, query, settings)
    if plan is not None and query.right is Right.ADMINISTER and not has_right(request.user, Right.ADMINISTER):
        return replace(plan, obstacle=plan.obstacle or f"{DOOR} {REFUSALS[Right.ADMINISTER]}")
    if plan is None or not plan.losses or not reach_of(request.user).is_limited(Resource.TOPIC, Right.OPERATE):
        return plan
    return replace(plan, obstacle=plan.obstacle or NOT_ALL_TOPICS)


def _plan(broker: Broker, query: SettingsQuery, settings: _Settings) -> SettingsPlan | None:
    setting = _chosen(broker, query, settings)
    if setting is None:
        return None
    broker_id = None if query.is_for_all else broker.broker_id
    target = setting_target(broker_id, setting, settings, query.value)
    wanted = SettingChange(setting, own_value(broker_id, setting), query.value)
    return change_plan(target, [wanted], here.BOOTSTRAP_SERVERS)
