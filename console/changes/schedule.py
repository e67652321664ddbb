"""What beat runs for this feature: only where something waits that could expire."""

from console.changes.models import ProposedChange
from console.changes.tasks import expire_changes
from console.common.current_cluster import all_clusters, in_cluster

EXPIRE_EVERY_S = 60.0

BEAT_SCHEDULE = {
    "expire-changes": {"task": expire_changes.name, "schedule": EXPIRE_EVERY_S, "options": {"expires": EXPIRE_EVERY_S}},
}


def _waits_anywhere() -> bool:
    return any(_waits_in(name) for name in all_clusters())


def _waits_in(cluster: str) -> bool:
    with in_cluster(cluster):
        return ProposedChange.objects.filter(state=ProposedChange.State.WAITING).exists()


ONLY_IF = {"expire-changes": _waits_anywhere}
