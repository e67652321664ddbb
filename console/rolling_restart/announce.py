"""The push of a rolling restart to those who look at it."""

from console.access.read_only import why_read_only
from console.live import groups
from console.live.push import push_partial
from console.rolling_restart.models import RollingRestart


def push_restart(restart: RollingRestart) -> None:
    read_only = why_read_only()
    for can_operate in (True, False):
        context = {"restart": restart, "can_operate": can_operate and not read_only, "can_brake": can_operate}
        context["shown_brokers"] = list(restart.brokers.all())
        context["read_only"] = read_only
        push_partial(groups.processes(can_operate), "rolling_restart/progress.html", context)
