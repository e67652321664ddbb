"""Where a cluster's pages hang below the console's own path: the first's at the top, others' below `c/NAME/`.

An address says its cluster in front, so whatever is reversed while the cluster's pages are drawn stays in it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module

from django.conf import settings
from django.http import HttpRequest
from django.urls import get_urlconf, include, path, reverse, set_urlconf

from console.kit.common.current_cluster import MAIN, NOBODYS, current_cluster, in_cluster

_FOLDER = "c/"


class ClusterUrls:
    """What Django takes for a module of addresses; its types name only the path of one."""

    def __init__(self, cluster: str):
        urls = import_module(settings.ROOT_URLCONF)
        self.urlpatterns = [path(prefix_of(cluster), include(urls.pages))]
        self.handler400, self.handler403 = urls.handler400, urls.handler403
        self.handler404, self.handler500 = urls.handler404, urls.handler500


@cache
def urls_of(cluster: str) -> ClusterUrls:
    """Return the URLs of a declared cluster, or of NOBODYS; never built from user input."""
    return ClusterUrls(cluster)


def prefix_of(cluster: str) -> str:
    """Return the console's own path and the cluster's, without a slash in front."""
    return str(settings.PATH_PREFIX) + ("" if cluster == MAIN else f"{_FOLDER}{cluster}/")


def address_in(cluster: str, route: str, *arguments: object) -> str:
    """Return the address as `reverse`, in another cluster than the current one."""
    return reverse(route, urlconf=urls_of(cluster), args=arguments)  # type: ignore[arg-type]  # see ClusterUrls


def split(path: str) -> tuple[str | None, str]:
    """Return the name an absolute path gives, whether or not there is such a cluster, and the path without it."""
    top = f"/{settings.PATH_PREFIX}"
    below = path.removeprefix(f"{top}{_FOLDER}")
    if below == path:
        return None, path
    name, _, rest = below.partition("/")
    return name, top + rest


def place_of(path: str) -> str:
    """Return the path without its cluster: `/topics/` in each of them."""
    return "/" + path.removeprefix(f"/{prefix_of(current_cluster())}")


def cluster_named(name: str) -> str:
    """Return the cluster's name, NOBODYS if no further cluster has it."""
    return name if name in settings.CLUSTERS else NOBODYS


def route_of(request: HttpRequest) -> str:
    """Return the name of the route of `request`; empty while none is resolved, and for a route without a name."""
    match = request.resolver_match
    return (match.url_name or "") if match else ""


@contextmanager
def at_cluster(name: str) -> Iterator[None]:
    """Switch to the cluster and its addresses in this block."""
    before = get_urlconf()
    with in_cluster(name):
        set_urlconf(urls_of(name))  # type: ignore[arg-type]  # see ClusterUrls
        try:
            yield
        finally:
            set_urlconf(before)
