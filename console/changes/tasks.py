"""The beat's task."""

from celery import shared_task

from console.changes.actions import expire_old


@shared_task(ignore_result=True)
def expire_changes() -> None:
    expire_old()
