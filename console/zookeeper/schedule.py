"""What beat runs for this feature."""

from console.zookeeper.queries import open_change
from console.zookeeper.tasks import advance_ensemble_change

ADVANCE_EVERY_S = 1.0

BEAT_SCHEDULE = {
    "advance-ensemble-change": {
        "task": advance_ensemble_change.name,
        "schedule": ADVANCE_EVERY_S,
        "options": {"expires": ADVANCE_EVERY_S},
    },
}

ONLY_IF = {"advance-ensemble-change": lambda: open_change() is not None}
