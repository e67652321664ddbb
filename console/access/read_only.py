"""Read-only mode: nothing is changed, in the whole console or in the cluster, until it is ended; and who said so.

What is under way goes on: stopping half-way through would be a change too.
"""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from console.access.models import ReadOnlyMode
from console.common.names import DEFAULT_CLUSTER, SYSTEM

CONSOLE = "console"
CLUSTER = f"cluster {DEFAULT_CLUSTER}"
SCOPES = {CONSOLE: "the whole console", CLUSTER: "the cluster"}


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
        return f"{SCOPES[self.scope].capitalize()} is read-only {when}{why}"


def read_only_now() -> dict[str, ReadOnly]:
    """What is read-only, by scope."""
    found = {row.scope: ReadOnly(row.scope, row.by_name, row.since, row.reason) for row in ReadOnlyMode.objects.all()}
    if settings.READ_ONLY:
        found[CONSOLE] = ReadOnly(CONSOLE, SYSTEM)
    return {scope: found[scope] for scope in SCOPES if scope in found}


def why_read_only() -> str:
    """A sentence if the cluster must not be changed now; otherwise nothing."""
    return next((str(each) for each in read_only_now().values()), "")
