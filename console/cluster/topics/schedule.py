"""What beat runs for this feature: only where the deletion of a topic is due."""

from django.utils import timezone

from console.cluster.topics.grace_queries import due_at
from console.cluster.topics.tasks import delete_what_is_due
from console.kit.common.current_cluster import all_clusters, in_cluster

LOOK_EVERY_S = 30.0

BEAT_SCHEDULE = {
    "delete-what-is-due": {
        "task": delete_what_is_due.name,
        "schedule": LOOK_EVERY_S,
    },
}


def _is_any_due() -> bool:
    return any(_is_due_in(name) for name in all_clusters())


def _is_due_in(cluster: str) -> bool:
    with in_cluster(cluster):
        return due_at(timezone.now()).exists()


ONLY_IF = {"delete-what-is-due": _is_any_due}
