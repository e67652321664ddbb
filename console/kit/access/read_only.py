"""Read-only mode: nothing is changed, in the whole console or in the cluster, until it is ended; and who said so.

What is under way goes on: stopping half-way through would be a change too.
"""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from console.kit.access.models import ReadOnlyMode
from console.kit.common.current_cluster import current_cluster, here, is_main
from console.kit.common.names import DEFAULT_CLUSTER, SYSTEM

CONSOLE = "console"
CLUSTER = f"cluster {DEFAULT_CLUSTER}"


def cluster_scope() -> str:
    """Return the scope of the current cluster; cluster names have no slash."""
    return CLUSTER if is_main() else f"cluster /{current_cluster()}"


def scopes() -> dict[str, str]:
    """Return the scopes that can be read-only, with their titles."""
    return {CONSOLE: "the whole console", cluster_scope(): "the cluster"}


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """Why nothing under `scope` may be changed. Without `since` it was so from the console's start on."""

    scope: str
    by_name: str
    since: datetime | None = None
    reason: str = ""

    def __str__(self) -> str:
        when = f"since {self.since:%Y-%m-%d %H:%M} UTC by {self.by_name}" if self.since else "by its settings"
        why = f": {self.reason}" if self.reason else "."
        return f"{scopes()[self.scope].capitalize()} is read-only {when}{why}"


def read_only_now() -> dict[str, ReadOnly]:
    """Return what is read-only now, by scope."""
    modes = {row.scope: ReadOnly(row.scope, row.by_name, row.since, row.reason) for row in ReadOnlyMode.objects.all()}
    if settings.READ_ONLY:
        modes[CONSOLE] = ReadOnly(CONSOLE, SYSTEM)
    elif current_cluster() in settings.CLUSTERS and here.READ_ONLY:
        modes[cluster_scope()] = ReadOnly(cluster_scope(), SYSTEM)
    return {scope: modes[scope] for scope in scopes() if scope in modes}


def why_read_only() -> str:
    """Return a sentence if the cluster must not be changed now; otherwise nothing."""
    return next((str(only) for only in read_only_now().values()), "")
