"""What is for the first cluster alone: it runs the processes of this host, and others are run elsewhere."""

from collections.abc import Callable
from typing import Any

from django.http import Http404

from console.kit.common.current_cluster import is_main

_PACKAGES = (
    "console.processes.",
    "console.automation.rolling_restart.",
    "console.automation.decommission.",
    "console.ecosystem.streams.",
)
_MODULES = frozenset({"console.cluster.zookeeper.change_views"})
NOT_HERE = "This cluster's processes are run elsewhere; this console runs those of its first cluster."


def refuse_elsewhere(view: Callable[..., Any]) -> None:
    """Raises Http404 for a view that starts, stops or shows processes, in a cluster whose processes are elsewhere."""
    if not is_main() and (view.__module__.startswith(_PACKAGES) or view.__module__ in _MODULES):
        raise Http404(NOT_HERE)
