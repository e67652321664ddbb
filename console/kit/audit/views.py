"""The audit page, its file, and the check of the chain; for administrators."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.kit.access.rights import Right, require
from console.kit.audit.models import AuditEvent
from console.kit.audit.queries import RESULTS, TITLES, AuditQuery, chosen_events, event_rows, verify_chain
from console.kit.common.csv_table import csv_response, wants_csv

EVENTS_PER_PAGE = 50


@require_safe
def audit_list(request: HttpRequest) -> HttpResponseBase:
    require(request.user, Right.ADMINISTER)
    query = AuditQuery.parse(request.GET)
    if wants_csv(request):
        return csv_response(request, "audit", TITLES, event_rows(chosen_events(query).iterator()))
    return render(request, "audit/list.html", _page(request, query))


@require_safe
def audit_verify(request: HttpRequest) -> HttpResponse:
    """Show the page with the result of verifying every row."""
    require(request.user, Right.ADMINISTER)
    verdict = verify_chain()
    number = verdict.broken.row_id if verdict.broken else None
    broken = None if number is None else AuditEvent.objects.filter(pk=number).first()
    context = {**_page(request, AuditQuery.parse(request.GET)), "verdict": verdict, "broken_event": broken}
    return render(request, "audit/list.html", context)


def _page(request: HttpRequest, query: AuditQuery) -> dict[str, object]:
    return {
        "page": Paginator(chosen_events(query), EVENTS_PER_PAGE).get_page(request.GET.get("page", "1")),
        "query": query,
        "results": RESULTS,
        "object_types": list(
            AuditEvent.objects.order_by("object_type").values_list("object_type", flat=True).distinct()
        ),
    }
