"""The beat's task. Short: whatever takes long is waited for by the next one."""

from celery import shared_task
from django.conf import settings

from console.common.file_lock import exclusive
from console.live.attention import call
from console.rolling_restart.advance import advance
from console.rolling_restart.queries import open_restart


# Named as workers know it that are not updated yet.
@shared_task(name="console.rolling_restart.tasks.advance_rolling_restart", ignore_result=True)
def advance_rolling_restart() -> None:
    """Does nothing without one, or while another is at it."""
    restart = open_restart()
    if restart is None:
        return
    with exclusive(settings.RUN_DIR / "locks" / "rolling-restart.lock", wait=False) as ours:
        if ours:
            call()
            advance(restart)
