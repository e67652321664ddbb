"""What beat runs for this feature."""

from console.rolling_restart.queries import open_restart
from console.rolling_restart.tasks import advance_rolling_restart

ADVANCE_EVERY_S = 1.0

BEAT_SCHEDULE = {
    "advance-rolling-restart": {
        "task": advance_rolling_restart.name,
        "schedule": ADVANCE_EVERY_S,
        "options": {"expires": ADVANCE_EVERY_S},
    },
}

ONLY_IF = {"advance-rolling-restart": lambda: open_restart() is not None}
