"""The cluster's state for the frame every page has around it."""

from django.conf import settings
from django.http import HttpRequest

from console.clusters.queries import cluster_state
from console.common.clock import now_ms


def cluster(request: HttpRequest) -> dict[str, object]:
    if not getattr(request, "user", None) or not request.user.is_authenticated:
        return {}
    return {
        "cluster": cluster_state(),
        "now_ms": now_ms(),
        "bootstrap_servers": settings.BOOTSTRAP_SERVERS,
    }
