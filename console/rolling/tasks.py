"""The beat's task. Short: whatever takes long is waited for by the next one."""

from celery import shared_task
from django.conf import settings

from console.live.attention import call
from console.processes.file_lock import exclusive
from console.rolling.advance import advance
from console.rolling.pages import open_restart


@shared_task(ignore_result=True)
def advance_rolling_restart() -> None:
    """Does nothing without one, or while another is at it."""
    restart = open_restart()
    if restart is None:
        return
    with exclusive(settings.RUN_DIR / "locks" / "rolling-restart.lock", wait=False) as ours:
        if ours:
            call()
            advance(restart)
