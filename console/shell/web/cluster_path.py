"""The cluster that an address names, for everything that is done for it; and a no that tells nothing of clusters.

To who may not look at a cluster it reads as one that does not exist, whichever page is asked for.
"""

from collections.abc import Callable
from typing import Any

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, WebSocketScope
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import redirect

from console.kit.access.clusters import may_look, visible_clusters
from console.kit.common.cluster_urls import address_in, at_cluster, cluster_named, route_of, split, urls_of
from console.kit.common.current_cluster import MAIN, NOBODYS, current_cluster, in_cluster, is_main
from console.kit.common.managed_here import refuse_elsewhere
from console.shell.web.origin import WebSocketApplication

NO_CLUSTER = "There is no such cluster."


class ClusterMiddleware:
    """Selects the cluster, behind the login: people without one are sent there, whatever the address names."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name, rest = split(request.path_info)
        if name is None:
            return self.get_response(request)
        if name == MAIN:
            return _to_the_top(request, rest)
        cluster = cluster_named(name)
        if request.user.is_authenticated and not may_look(request.user, cluster):
            cluster = NOBODYS
        request.urlconf = urls_of(cluster)  # type: ignore[assignment]  # see ClusterUrls
        request.path_info = address_in(cluster, "overview") + rest.removeprefix(f"/{settings.PATH_PREFIX}")
        with in_cluster(cluster):
            return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, arguments: Any, named: Any) -> HttpResponse | None:
        if not is_main() and route_of(request) in _OF_THE_FIRST:
            raise Http404(NO_CLUSTER)
        if (is_main() and not settings.CLUSTERS) or not request.user.is_authenticated:
            return None
        if not may_look(request.user):
            return _without_rights(request)
        refuse_elsewhere(view)
        return None


def _to_the_top(request: HttpRequest, rest: str) -> HttpResponse:
    """Redirect to the first cluster's only address, the console's own; a form is posted there again."""
    query = request.META.get("QUERY_STRING", "")
    address = f"/{rest.lstrip('/')}" + (f"?{query}" if query else "")
    return HttpResponsePermanentRedirect(address, preserve_request=True)


def _without_rights(request: HttpRequest) -> HttpResponse | None:
    """Show a user without rights here the clusters with rights, login and logout, and nothing else."""
    route = route_of(request)
    if current_cluster() == MAIN:
        if not visible_clusters(request.user) or route in _OF_NO_CLUSTER:
            return None
        if route == "overview":
            return redirect("clusters")
    elif route in ("login", "logout"):
        return None
    raise Http404(NO_CLUSTER)


#: For everybody, without a login: of others it would tell everybody that they are there.
_OF_THE_FIRST = frozenset({"healthz", "metrics", "status"})
#: Pages of the person, not of a cluster.
_OF_NO_CLUSTER = frozenset({"clusters", "login", "logout", "own-password", "tokens", "token-make", "token-end"})


class ClusterSockets:
    """The same of a websocket: an ASGI application around those that answer."""

    def __init__(self, application: WebSocketApplication):
        self._application = application

    async def __call__(self, scope: WebSocketScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        name, rest = split(scope["path"])
        if name is None:
            await self._application(scope, receive, send)
            return
        with at_cluster(cluster_named(name)):
            below = scope.copy()
            below["path"] = rest
            await self._application(below, receive, send)
