"""What beat runs for this feature."""

from console.decommission.models import OPEN, Departure
from console.decommission.tasks import advance_departures

ADVANCE_EVERY_S = 2.0

BEAT_SCHEDULE = {
    "advance-departures": {
        "task": advance_departures.name,
        "schedule": ADVANCE_EVERY_S,
        "options": {"expires": ADVANCE_EVERY_S},
    },
}

ONLY_IF = {"advance-departures": Departure.objects.filter(state__in=OPEN).exists}
