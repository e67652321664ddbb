"""The push of a departure to those who look at it."""

from console.decommission.models import Departure
from console.live import groups
from console.live.push import push_partial


def push_departure(departure: Departure) -> None:
    for can_operate in (True, False):
        context = {"departure": departure, "can_operate": can_operate}
        push_partial(groups.processes(can_operate), "decommission/progress.html", context)
