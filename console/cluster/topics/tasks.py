"""The beat's task: deletions that are due, of every cluster."""

from celery import shared_task
from django.conf import settings

from console.cluster.topics.due import carry_out_due
from console.kit.common.current_cluster import all_clusters, in_cluster
from console.kit.common.file_lock import exclusive


@shared_task(ignore_result=True)
def delete_what_is_due() -> None:
    """Carry out due deletions, unless another process does."""
    with exclusive(settings.RUN_DIR / "locks" / "planned-deletions.lock", wait=False) as ours:
        for name in all_clusters() if ours else ():
            with in_cluster(name):
                carry_out_due()
