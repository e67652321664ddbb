"""Retention of the whole cluster, as the collector last saw it."""

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.retention.queries import TITLES, RetentionQuery, chosen_topics, disks, export_rows, retention_page
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_somewhere
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.tables.arrangement import rows_for


@require_safe
def cluster_retention(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    query, reach = RetentionQuery.parse(request.GET), reach_of(request.user)
    if wants_csv(request):
        rows = export_rows(chosen_topics(query, reach).iterator(chunk_size=2_000), reach)
        return csv_response(request, "retention", TITLES, rows)
    page = retention_page(query, reach, rows_for(request, "retention"))
    context = {"query": query, "page": page, "disks": disks()}
    template = "retention/partials/table.html" if request.htmx.target == "retention-table" else "retention/cluster.html"
    return render(request, template, context)
