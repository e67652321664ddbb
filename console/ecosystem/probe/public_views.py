"""The status page: for everybody, without a login, where somebody has switched it on; nothing of it is anybody's.

Whoever asks often is given what was made within the last half minute, and whoever asks while it is made waits for it:
so it costs the databases the same whoever asks.
"""

from threading import Lock

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from console.ecosystem.probe.figures import ProbeFigures
from console.ecosystem.probe.models import HOUR, MINUTE, ProbeWindow
from console.ecosystem.probe.public import DAY_MS, DAYS, SILENT_MS, ClusterAvailability, Window, availability
from console.kit.access.clusters import declared_clusters
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import in_cluster
from console.kit.common.declared_clusters import DeclaredCluster

FRESH_S = 30
_KEY = "status-page"
_making = Lock()


@login_not_required
@require_safe
def status_page(request: HttpRequest) -> HttpResponse:
    if not settings.STATUS_PAGE:
        raise Http404("There is no such page.")
    return HttpResponse(cache.get(_KEY) or _made_once(), headers={"Cache-Control": f"public, max-age={FRESH_S}"})


def _made_once() -> str:
    """Make it once, in the first caller, for all that wait."""
    with _making:
        return str(cache.get_or_set(_KEY, _page, FRESH_S))


def _page() -> str:
    at_ms = now_ms()
    clusters = [_of(cluster, at_ms) for cluster in declared_clusters()]
    return render_to_string("probe/status.html", {"clusters": clusters, "at_ms": at_ms, "days": DAYS})


def _of(cluster: DeclaredCluster, at_ms: int) -> ClusterAvailability:
    """Return the cluster's availability; a database that does not answer leaves the other clusters on the page."""
    with in_cluster(cluster.name):
        try:
            minutes, hours = _windows(MINUTE, at_ms - SILENT_MS), _windows(HOUR, at_ms - DAYS * DAY_MS)
        except DatabaseError:
            minutes, hours = [], []
    return availability(cluster.title, minutes, hours, at_ms)


def _windows(tier: int, since_ms: int) -> list[Window]:
    rows = ProbeWindow.objects.filter(tier=tier, begins_ms__gt=since_ms).order_by("begins_ms")
    return [(begins_ms, ProbeFigures(whole)) for begins_ms, whole in rows.values_list("begins_ms", "whole")]
