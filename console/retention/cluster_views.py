"""Retention of the whole cluster, as the collector last saw it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.access.rights import Right, require
from console.exports.csv_table import csv_response, wants_csv
from console.retention.queries import TITLES, RetentionQuery, chosen_topics, disks, export_rows, retention_page


@require_safe
def cluster_retention(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    query = RetentionQuery.parse(request.GET)
    if wants_csv(request):
        return csv_response(request, "retention", TITLES, export_rows(chosen_topics(query).iterator(chunk_size=2_000)))
    context = {"query": query, "page": retention_page(query), "disks": disks()}
    template = "retention/partials/table.html" if request.htmx.target == "retention-table" else "retention/cluster.html"
    return render(request, template, context)
