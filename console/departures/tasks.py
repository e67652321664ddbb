"""The beat's task. Short: whatever takes long is waited for by the next one."""

from celery import shared_task
from django.conf import settings

from console.departures.advance import advance
from console.departures.models import OPEN, Departure
from console.live.attention import call
from console.processes.file_lock import exclusive


@shared_task(ignore_result=True)
def advance_departures() -> None:
    """Does nothing without one, or while another is at it."""
    departures = list(Departure.objects.filter(state__in=OPEN).order_by("id"))
    if not departures:
        return
    with exclusive(settings.RUN_DIR / "locks" / "departures.lock", wait=False) as ours:
        for departure in departures if ours else []:
            call()
            advance(departure)
