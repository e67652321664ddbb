"""The page of what the console itself asks of the cluster."""

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.footprint.export import TITLES, rows
from console.cluster.footprint.queries import brokers_asked, footprint_facts
from console.kit.access.rights import Right, require
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest


@require_safe
def footprint(request: UserRequest) -> HttpResponseBase:
    """Show the console's own requests, without names of topics and groups, to every user of the cluster."""
    require(request.user, Right.VIEW)
    if wants_csv(request):
        return csv_response(request, "footprint", TITLES, rows(brokers_asked()))
    return render(request, "footprint/page.html", footprint_facts(request.user))
