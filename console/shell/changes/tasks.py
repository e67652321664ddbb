"""The task that Celery's beat runs periodically."""

from celery import shared_task

from console.kit.common.current_cluster import all_clusters, in_cluster
from console.shell.changes.actions import expire_old


@shared_task(ignore_result=True)
def expire_changes() -> None:
    for name in all_clusters():
        with in_cluster(name):
            expire_old()
