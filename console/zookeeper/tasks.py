"""The beat's task. Short: whatever takes long is waited for by the next one."""

from celery import shared_task
from django.conf import settings

from console.common.file_lock import exclusive
from console.live.attention import call
from console.zookeeper.advance import advance
from console.zookeeper.queries import open_change


@shared_task(ignore_result=True)
def advance_ensemble_change() -> None:
    """Does nothing without one, or while another is at it."""
    change = open_change()
    if change is None:
        return
    with exclusive(settings.RUN_DIR / "locks" / "ensemble-change.lock", wait=False) as ours:
        if ours:
            change.refresh_from_db()
            if change.is_open:
                call()
                advance(change)
