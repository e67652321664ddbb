"""The beat's task. Short: whatever takes long is waited for by the next one."""

from celery import shared_task
from django.conf import settings

from console.common.file_lock import exclusive
from console.decommission.advance import advance
from console.decommission.models import OPEN, Departure
from console.live.attention import call


# Named as workers know it that are not updated yet.
@shared_task(name="console.decommission.tasks.advance_departures", ignore_result=True)
def advance_departures() -> None:
    """Does nothing without one, or while another is at it."""
    departures = list(Departure.objects.filter(state__in=OPEN).order_by("id"))
    if not departures:
        return
    with exclusive(settings.RUN_DIR / "locks" / "departures.lock", wait=False) as ours:
        for departure in departures if ours else []:
            call()
            advance(departure)
