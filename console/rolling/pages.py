"""The push of a rolling restart to those who look at it."""

from console.live import groups
from console.live.push import push_partial
from console.rolling.models import RollingRestart


def open_restart() -> RollingRestart | None:
    """The one that is running or paused."""
    return RollingRestart.objects.filter(state__in=("running", "paused")).first()


def push_restart(restart: RollingRestart) -> None:
    for can_operate in (True, False):
        context = {"restart": restart, "can_operate": can_operate}
        push_partial(groups.processes(can_operate), "rolling/progress.html", context)
