"""The page of client applications, and the clients of one topic as its tabs show them."""

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_somewhere, sees_all_names
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.state.client_applications.models import ClientTraffic
from console.state.client_applications.queries import (
    DIRECTIONS,
    TITLES,
    ClientListQuery,
    chosen,
    client_page,
    client_rows,
    csv_rows,
    last_look,
    topic_clients,
)
from console.state.clusters.access import access_topic


@require_safe
def client_applications(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    reach = reach_of(request.user)
    query = ClientListQuery.parse(request.GET)
    if wants_csv(request):
        return csv_response(request, "client-applications", TITLES, csv_rows(chosen(query, reach)))
    page = client_page(query, reach)
    context = {
        "query": query,
        "page": page,
        "client_count": page.paginator.count - sum(row.is_console for row in page.paginator.object_list),
        "look": last_look(),
        "shows_addresses": reach.sees_all_names,
    }
    is_part = request.htmx.target == "client-table"
    template = "client_applications/partials/client-table.html" if is_part else "client_applications/list.html"
    return render(request, template, context)


@require_safe
def clients_of_topic(request: UserRequest, name: str) -> HttpResponseBase:
    """Return the part of a topic's page with its producers or consumers; as a file, both."""
    topic = access_topic(request.user, name, Right.VIEW)
    shows_addresses = sees_all_names(request.user)
    if wants_csv(request):
        rows = client_rows(ClientTraffic.objects.filter(topic=topic.name), shows_addresses=shows_addresses)
        return csv_response(request, f"clients-{topic.name}", TITLES, csv_rows(rows))
    direction = request.GET.get("direction", "")
    clients = topic_clients(
        topic.name, direction if direction in DIRECTIONS else DIRECTIONS[0], shows_addresses=shows_addresses
    )
    return render(request, "client_applications/partials/topic-clients.html", {"topic": topic, "clients": clients})
