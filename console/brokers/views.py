"""The list of brokers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.access.rights import Right, require
from console.brokers.models import Broker


@require_safe
def broker_list(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    return render(request, "brokers/list.html", {"brokers": Broker.objects.all()})
