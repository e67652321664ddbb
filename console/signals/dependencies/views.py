"""The page of what hangs on what: all topics, or what is around one object."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of, require_somewhere
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.signals.dependencies.graph import DependencyNode, NodeKind
from console.signals.dependencies.queries import (
    NAMED_MAX,
    SHOWN_MAX,
    Neighbour,
    is_seen,
    layers_around,
    topic_page,
    traffic_rates,
)
from console.state.client_applications.queries import last_look

TITLES = ("topic", "written_by", "read_by")
AROUND_TITLES = ("steps", "kind", "name", "records_per_second")


@require_safe
def dependencies(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    reach = reach_of(request.user)
    if "name" in request.GET:
        return _around(request, _requested_node(request, reach), reach)
    page = topic_page(request.GET, reach)
    if wants_csv(request):
        rows = [(row.name, *(_words(nodes) for nodes in (row.writers, row.readers))) for row in page]
        return csv_response(request, "dependencies", TITLES, rows)
    search = request.GET.get("search", "")
    context = {
        "page": page,
        "search": search,
        "named_max": NAMED_MAX,
        "named_rest": f"{NAMED_MAX}:",
        "internal": request.GET.get("internal") == "on",
        "look": last_look(),
    }
    return render(request, "dependencies/list.html", context)


def _requested_node(request: UserRequest, reach: Reach) -> DependencyNode:
    kind, name = request.GET.get("kind", NodeKind.TOPIC), request.GET["name"]
    if kind not in tuple(NodeKind):
        raise Http404("Nothing of that kind hangs on anything.")
    node = DependencyNode(NodeKind(kind), name)
    if not is_seen(node, reach):
        _refuse(request.user)
    return node


def _refuse(user: User) -> None:
    """Refuse before it is revealed whether the object exists."""
    raise PermissionDenied(f"The rights of {user.get_username()} do not reach this name.")


def _around(request: UserRequest, middle: DependencyNode, reach: Reach) -> HttpResponseBase:
    rates = traffic_rates(reach)
    layers = layers_around(middle, reach, rates)
    if not layers:
        raise Http404(f"Nothing is known of the {middle.kind} {middle.name}.")
    if wants_csv(request):
        rows = [
            (layer.steps, node.kind, node.name, rates.get((node, middle), rates.get((middle, node))))
            for layer in layers
            for node in layer.nodes
        ]
        return csv_response(request, "dependencies", AROUND_TITLES, rows)
    shown = [
        (layer, [(node, rates.get((node, middle), rates.get((middle, node)))) for node in layer.nodes[:SHOWN_MAX]])
        for layer in layers
    ]
    context = {"middle": middle, "layers": layers, "shown": shown, "look": last_look()}
    return render(request, "dependencies/around.html", context)


def _words(neighbours: list[Neighbour]) -> list[str]:
    return [
        f"{neighbour.node.kind}:{neighbour.node.name}{_rate_text(neighbour.records_per_second)}"
        for neighbour in neighbours
    ]


def _rate_text(records_per_second: float | None) -> str:
    return "" if records_per_second is None else f" {round(records_per_second, 2)}/s"
