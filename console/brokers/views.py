"""The list of brokers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.access.rights import Right, require
from console.brokers.export import TITLES, broker_rows
from console.brokers.models import Broker
from console.exports.csv_table import csv_response, wants_csv


@require_safe
def broker_list(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    if wants_csv(request):
        return csv_response(request, "brokers", TITLES, broker_rows(Broker.objects.all()))
    return render(request, "brokers/list.html", {"brokers": Broker.objects.all()})
