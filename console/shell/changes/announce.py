"""Told to every page of who may decide about changes, and to those that list them: there is another.

How many wait for somebody is another number for each; so pages fetch it.
"""

from console.kit.common.clock import now_ms
from console.kit.live import groups
from console.kit.live.push import push_partials
from console.shell.changes.feature import LIVE_GROUP


def tell() -> None:
    """Notify pages when the transaction commits."""
    version: dict[str, object] = {"version": now_ms()}
    group_names = (groups.WAITING_CHANGES, LIVE_GROUP)
    push_partials([(group, "live/resync.html", version) for group in group_names])
