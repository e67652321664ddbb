"""What beat runs for this feature: only where something could expire."""

from console.kit.common.current_cluster import all_clusters, in_cluster
from console.shell.changes.models import ProposedChange
from console.shell.changes.tasks import expire_changes

EXPIRE_EVERY_S = 60.0

BEAT_SCHEDULE = {
    "expire-changes": {"task": expire_changes.name, "schedule": EXPIRE_EVERY_S},
}


def _is_open_anywhere() -> bool:
    return any(_is_open_in(name) for name in all_clusters())


def _is_open_in(cluster: str) -> bool:
    state = ProposedChange.State
    with in_cluster(cluster):
        return ProposedChange.objects.filter(state__in=(state.WAITING, state.DOING)).exists()


ONLY_IF = {"expire-changes": _is_open_anywhere}
