"""What beat runs for this feature."""

from console.streams.tasks import look

LOOK_EVERY_S = 2.0

BEAT_SCHEDULE = {
    "look-at-streams": {
        "task": look.name,
        "schedule": LOOK_EVERY_S,
        "options": {"expires": LOOK_EVERY_S},
    },
}
