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
from console.signals.dependencies.graph import Kind, Node
from console.signals.dependencies.queries import NAMED_MAX, SHOWN_MAX, is_seen, layers_around, topic_page

TITLES = ("topic", "written_by", "read_by")
AROUND_TITLES = ("steps", "kind", "name")


@require_safe
def dependencies(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    reach = reach_of(request.user)
    if "name" in request.GET:
        return _around(request, _asked(request, reach), reach)
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
    }
    return render(request, "dependencies/list.html", context)


def _asked(request: UserRequest, reach: Reach) -> Node:
    kind, name = request.GET.get("kind", Kind.TOPIC), request.GET["name"]
    if kind not in tuple(Kind):
        raise Http404("Nothing of that kind hangs on anything.")
    node = Node(Kind(kind), name)
    if not is_seen(node, reach):
        _refuse(request.user)
    return node


def _refuse(user: User) -> None:
    """Before it is said whether there is such a thing."""
    raise PermissionDenied(f"The rights of {user.get_username()} do not reach this name.")


def _around(request: UserRequest, middle: Node, reach: Reach) -> HttpResponseBase:
    layers = layers_around(middle, reach)
    if not layers:
        raise Http404(f"Nothing is known of the {middle.kind} {middle.name}.")
    if wants_csv(request):
        rows = [(layer.steps, node.kind, node.name) for layer in layers for node in layer.nodes]
        return csv_response(request, "dependencies", AROUND_TITLES, rows)
    return render(request, "dependencies/around.html", {"middle": middle, "layers": layers, "shown_max": SHOWN_MAX})


def _words(nodes: list[Node]) -> list[str]:
    return [f"{node.kind}:{node.name}" for node in nodes]
