"""Pushed to every page: how many changes wait; and to those that list them, that there is another."""

from console.changes.queries import waiting_count
from console.common.clock import now_ms
from console.live import groups
from console.live.push import push_partials


def tell() -> None:
    """When the transaction commits; the count is of who sees every change."""
    push_partials(
        [
            (groups.WAITING_CHANGES, "changes/partials/count.html", {"waiting_changes": waiting_count()}),
            (groups.CHANGES_OF_RULES, "live/resync.html", {"version": now_ms()}),
        ]
    )
