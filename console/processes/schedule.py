"""What beat runs for this feature."""

from console.processes.idle import REST
from console.processes.tasks import reconcile

RECONCILE_EVERY_S = 1.0

BEAT_SCHEDULE = {
    "reconcile-processes": {
        "task": reconcile.name,
        "schedule": RECONCILE_EVERY_S,
    },
}

ONLY_IF = {"reconcile-processes": REST.is_over}
