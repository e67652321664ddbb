"""The look of every two seconds at the stream jobs of a host."""

from celery import shared_task
from django.conf import settings

from console.ecosystem.streams.collect import look_at_streams
from console.kit.common.file_lock import exclusive


@shared_task(ignore_result=True)
def look() -> None:
    """Does nothing while another look is at it."""
    with exclusive(settings.RUN_DIR / "locks" / "streams.lock", wait=False) as ours:
        if ours:
            look_at_streams()
