"""The list of connectors and the page of one: what it does, why it failed, how far it is."""

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.charts.panels import Panel
from console.cluster.charts.views import charts_page
from console.ecosystem.connectors import charted
from console.ecosystem.connectors.access import access_connector, access_connectors
from console.ecosystem.connectors.answers import OffsetView
from console.ecosystem.connectors.client import connect_client
from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.plan import ALTER_OFFSETS, CONFIGURE, OBJECT_TYPE, RESET_OFFSETS
from console.ecosystem.connectors.presenters import ShownConnector
from console.ecosystem.connectors.queries import (
    KINDS,
    TITLES,
    ConnectorListQuery,
    csv_rows,
    deleted_lately,
    shown_one,
)
from console.ecosystem.connectors.queries import (
    connector_page as page_of,
)
from console.ecosystem.connectors.store import look
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of, rights_of
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.plans.inverse import inverses_of
from console.kit.tables.arrangement import rows_for
from console.state.history.models import Change

#: Offsets on the page of a connector; all of them are in the form that alters them.
OFFSETS_SHOWN = 100
INVERSES_SHOWN = 5


@require_safe
def connector_list(request: UserRequest) -> HttpResponseBase:
    rows = access_connectors(request.user)
    query, reach = ConnectorListQuery.parse(request.GET), reach_of(request.user)
    if wants_csv(request):
        return csv_response(request, "connectors", TITLES, csv_rows(query, reach))
    is_part = request.htmx.target == "connector-table"
    context = {
        "query": query,
        "kinds": KINDS,
        "page": page_of(query, reach, rows_for(request, "connectors")),
        "look": look(),
        "has_rows": rows.exists(),
        "is_configured": connect_client().is_configured,
        "deleted": deleted_lately() if Right.ADMINISTER in rights_of(request.user) else [],
    }
    return render(request, "connectors/partials/connector-table.html" if is_part else "connectors/list.html", context)


@require_safe
def connector_page(request: UserRequest, name: str) -> HttpResponse:
    reach = reach_of(request.user)
    connector = shown_one(access_connector(request.user, name), reach)
    undoable = [event for event in inverses_of(OBJECT_TYPE, name) if event.action in _UNDONE_BY]
    context = {
        "connector": connector,
        "panels": _panels(connector, reach),
        "undoable": [(event, _UNDONE_BY[event.action]) for event in undoable[:INVERSES_SHOWN]],
        "may_see_offsets": not reach.is_limited(Resource.TOPIC),
    }
    return render(request, "connectors/page.html", context)


_UNDONE_BY = {
    CONFIGURE: "connector-configure",
    ALTER_OFFSETS: "connector-offsets",
    RESET_OFFSETS: "connector-offsets",
}


@require_safe
def details(request: UserRequest, name: str) -> HttpResponse:
    """Show the details from Connect in a separate request, so that the page does not wait."""
    row = access_connector(request.user, name)
    reach = reach_of(request.user)
    context: dict[str, object] = {"connector": row}
    if not reach.is_limited(Resource.TOPIC):
        context |= _offsets(row)
    topics, why = _topics(row)
    seen = (
        None if topics is None else [topic for topic in topics if Right.VIEW in reach.rights_on(Resource.TOPIC, topic)]
    )
    context |= {"topics": seen, "topics_error": why, "hidden_count": len(topics or ()) - len(seen or ())}
    return render(request, "connectors/partials/details.html", context)


def _offsets(row: Connector) -> dict[str, object]:
    try:
        offsets: tuple[OffsetView, ...] = connect_client().offsets(row.name)
    except GatewayError as error:
        return {"error": str(error)}
    return {"offsets": offsets[:OFFSETS_SHOWN], "offsets_count": len(offsets)}


def _topics(row: Connector) -> tuple[tuple[str, ...] | None, str]:
    """Return the topics; None, and why, where Connect does not track them."""
    try:
        return connect_client().topics(row.name), ""
    except RefusedError as error:
        return None, str(error)
    except GatewayError:
        return None, "Not known now."


def _panels(connector: ShownConnector, reach: Reach) -> list[Panel]:
    with_lag = not (reach.is_limited(Resource.TOPIC) or reach.is_limited(Resource.GROUP))
    return charted.panels(connector.row, connector.topics, with_lag=with_lag)


@require_safe
def connector_charts(request: UserRequest, name: str) -> HttpResponseBase:
    reach = reach_of(request.user)
    connector = shown_one(access_connector(request.user, name), reach)
    panels = _panels(connector, reach)
    return charts_page(request, "connectors/charts.html", {"connector": connector}, panels, Change.objects.none())
