"""What beat runs for this feature."""

from console.kit.audit.tasks import close_tallies

CLOSE_EVERY_S = 20.0

BEAT_SCHEDULE = {
    "close-tallies": {"task": close_tallies.name, "schedule": CLOSE_EVERY_S},
}
