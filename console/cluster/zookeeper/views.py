"""The page of the ensemble, and the browser of what is in it. Looking into a znode asks ZooKeeper while it is drawn."""

from dataclasses import dataclass
from datetime import timedelta

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from console.cluster.zookeeper.export import CHILD_TITLES, MEMBER_TITLES, child_rows, member_rows
from console.cluster.zookeeper.models import EnsembleChange
from console.cluster.zookeeper.paths import Mention, PathError, check_path, crumbs, explain, mentions
from console.cluster.zookeeper.queries import ensemble_facts, shown_members
from console.cluster.zookeeper.servers import process_names, server_processes
from console.cluster.zookeeper.values import ShownValue, show_value
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import zookeeper_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.interface import CHILDREN_LISTED_MAX, ChildView, NoSuchZnodeError, ZnodeView
from console.processes.access import why_not_all
from console.state.clusters.queries import cluster_state

CHILDREN_PER_PAGE = 100
#: Changes of the ensemble that are over, on its page.
EARLIER_SHOWN = 5
RECENT = timedelta(minutes=10)


@require_safe
def ensemble(request: UserRequest) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    if wants_csv(request):
        return csv_response(request, "zookeeper", MEMBER_TITLES, member_rows(shown_members(cluster_state())))
    changes = EnsembleChange.objects.all()[: EARLIER_SHOWN + 1]
    is_first_news = bool(changes) and (changes[0].is_open or _is_recent(changes[0]))
    context = {
        "operation": changes[0] if is_first_news else None,
        "why_not": _why_not(request, changes[0]) if is_first_news else "",
        "earlier": changes[1:] if is_first_news else changes[:EARLIER_SHOWN],
        "servers": sorted(server_processes()),
        **ensemble_facts(),
    }
    return render(request, "zookeeper/page.html", context)


def _why_not(request: UserRequest, change: EnsembleChange) -> str:
    return why_not_all(request.user, process_names(change.joining, change.leaving))


def _is_recent(change: EnsembleChange) -> bool:
    """Return whether the change ended lately: it is shown in full a while longer, with its outcome."""
    return change.ended_at is not None and timezone.now() - change.ended_at < RECENT


@require_safe
def znodes(request: UserRequest) -> HttpResponseBase:
    """Show a znode; a path that does not exist or cannot be read gets a message with a link up."""
    require(request.user, Right.VIEW)
    reach = reach_of(request.user)
    if reach.is_limited(Resource.TOPIC) or reach.is_limited(Resource.GROUP):
        raise PermissionDenied("Names of all topics stand in ZooKeeper, and your rights do not reach all of them.")
    text = request.GET.get("path", "/")
    try:
        path = check_path(text)
    except PathError as error:
        return _page(request, "/", {"error": str(error), "typed": text[:200]}, 400)
    page = _page_number(request)
    try:
        if wants_csv(request):
            view = zookeeper_gateway().look(path, 0, CHILDREN_LISTED_MAX)
            return csv_response(request, "znodes", CHILD_TITLES, child_rows(path, view.children))
        view = zookeeper_gateway().look(path, (page - 1) * CHILDREN_PER_PAGE, CHILDREN_PER_PAGE)
    except NoSuchZnodeError as error:
        return _page(request, path, {"error": str(error), "is_missing": True}, 404)
    except GatewayError as error:
        return _page(request, path, {"error": str(error)}, 503)
    return _page(request, path, _facts(view, page, request.GET.get("as", "")))


def _page(request: UserRequest, path: str, facts: dict[str, object], status: int = 200) -> HttpResponse:
    trail = crumbs(path)
    context = {"path": path, "trail": trail[:-1], "here": trail[-1], "explanation": explain(path), **facts}
    return render(request, "zookeeper/znodes.html", context, status=status)


def _facts(view: ZnodeView, page: int, form: str) -> dict[str, object]:
    shown = show_value(view.path, view.value, form) if view.value is not None else None
    return {
        "znode": view,
        "shown": shown,
        "children": [ZnodeChild.of(view.path, child) for child in view.children],
        "is_too_wide": view.child_count > CHILDREN_LISTED_MAX,
        "page_number": page,
        "page_count": -(-view.child_count // CHILDREN_PER_PAGE),
        "links": _links(view, shown),
    }


@dataclass(frozen=True, slots=True)
class ZnodeChild:
    name: str
    path: str
    child_count: int | None
    data_bytes: int | None
    is_ephemeral: bool

    @classmethod
    def of(cls, parent: str, view: ChildView) -> "ZnodeChild":
        path = f"{parent.rstrip('/')}/{view.name}"
        return cls(view.name, path, view.child_count, view.data_bytes, view.is_ephemeral)


def _page_number(request: UserRequest) -> int:
    text = request.GET.get("page", "1")
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 7 else 1


def _links(view: ZnodeView, shown: ShownValue | None) -> list[tuple[str, str]]:
    """Return the words and address of links in the znode's value."""
    mentioned = mentions(view.path, shown.decoded if shown else None)
    return [(f"{item.kind} {item.name}", address) for item in mentioned if (address := _address(item))]


def _address(mention: Mention) -> str:
    """Empty for a name that no page can have: anybody may have written the znode."""
    try:
        return reverse(mention.kind, args=[mention.name])
    except NoReverseMatch:
        return reverse("brokers") if mention.kind == "broker" else ""
