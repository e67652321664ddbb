"""The list of quotas with what is used of them, which counts for whom, and changing those of an entity."""

from dataclasses import replace
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_safe

from console.cluster.quotas.access import access_quotas, refusal_to_change
from console.cluster.quotas.actions import do_change_quotas
from console.cluster.quotas.forms import QuotaForm, initial_of
from console.cluster.quotas.models import QuotaRow
from console.cluster.quotas.plan import CHANGE, quota_plan
from console.cluster.quotas.queries import (
    NAME_LENGTH_MAX,
    TITLES,
    QuotaListQuery,
    csv_rows,
    look,
    quota_page,
    stored_quotas,
    stored_uses,
    tables_of,
    verdicts,
)
from console.kit.access.rights import Right
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.quotas.interface import LABEL_ORDER, QuotaEntity, Values, entity_at, value_text
from console.kit.plans.inverse import removed
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import is_confirmed, refusable

#: Who does not log in.
_ANONYMOUS = "ANONYMOUS"


@require_safe
def quota_list(request: UserRequest) -> HttpResponseBase:
    access_quotas(request.user, Right.VIEW)
    query = QuotaListQuery.parse(request.GET)
    if wants_csv(request):
        return csv_response(request, "quotas", TITLES, csv_rows(query))
    is_part = request.htmx.target == "quota-table"
    context = {"query": query, "page": quota_page(query), "look": look(), "has_rows": QuotaRow.objects.exists()}
    return render(request, "quotas/partials/quota-table.html" if is_part else "quotas/list.html", context)


@require_safe
def quota_try(request: UserRequest) -> HttpResponse:
    """Show which of the last known quotas applies to a client."""
    access_quotas(request.user, Right.VIEW)
    fields = {name: request.GET.get(name, "")[:NAME_LENGTH_MAX] for name in ("user", "client_id", "ip")}
    context = {"asked": fields, "look": look(), "tables": []}
    if any(fields.values()):
        quota_verdicts = verdicts(stored_quotas(), fields["user"] or _ANONYMOUS, fields["client_id"], fields["ip"])
        context["tables"] = tables_of(quota_verdicts)
    return render(request, "quotas/try.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def quota_change(request: UserRequest) -> HttpResponse:
    """Show the form, then the plan it makes, then make the change: a post with the plan's digest confirms it."""
    access_quotas(request.user, Right.OPERATE)
    form = QuotaForm(request.POST or None, initial=_asked_for(request))
    if request.method != "POST" or not form.is_valid():
        shown = {"form": form, "changed": _changed()}
        return render(request, "quotas/change.html", shown, status=422 if form.errors else 200)
    context: dict[str, object] = {"form": form, "fields": form.fields_again}
    with refusable() as answer:
        gateway = cluster_gateway()
        quotas = gateway.quotas.describe()
        own_user = gateway.credentials.own_user or _ANONYMOUS
        plan = quota_plan(form.entity, form.wanted, quotas, stored_uses(), own_user, here.BOOTSTRAP_SERVERS)
        refusal = refusal_to_change(request.user, form.entity)
        context["plan"] = replace(plan, obstacle=plan.obstacle or refusal)
        if is_confirmed(request):
            if refusal:
                raise PermissionDenied(refusal)
            before = quotas.get(form.entity, {})
            do_change_quotas(request.user, plan, before, Confirmation.parse(request.POST))
            _add_messages(request, plan, form.entity, before)
            return redirect("quotas")
    return render(request, "quotas/change.html", context | {"error": answer.error}, status=answer.status)


def _asked_for(request: UserRequest) -> dict[str, object]:
    """Return initial values: the values of the entity in the link, or those that the link asks for (an undo)."""
    entity = entity_at(request.GET.get("path", ""))
    if entity is None:
        return {"user": request.GET.get("user", "")[:NAME_LENGTH_MAX]}
    named = {key: request.GET[key][:40] for key in LABEL_ORDER if key in request.GET}
    if named or "undo" in request.GET:
        return initial_of(entity, {}) | named
    return initial_of(entity, stored_quotas().get(entity, {}))


def _add_messages(request: UserRequest, plan: Plan, entity: QuotaEntity, before: Values) -> None:
    if plan.is_empty:
        messages.info(request, "Nothing differs: nothing was changed.")
        return
    address = _address_back(entity.path, before)
    sentence = 'Quotas of {} were changed. <a href="{}">Plan the undo…</a>'
    messages.success(request, format_html(sentence, plan.object_name, address))


def _address_back(path: str, before: Values) -> str:
    """Return the address of the form with the entity's former values."""
    back = {"path": path, "undo": 1} | {key: value_text(key, value) for key, value in before.items()}
    return f"{reverse('quota-change')}?{urlencode(back)}"


def _changed() -> list[tuple[KeptInverse, str]]:
    """Return the newest changes, each with the address of what was before."""
    kept = removed("quota", CHANGE)
    return [(reading, _address_back(reading.values["path"], reading.values["before"])) for reading in kept]
