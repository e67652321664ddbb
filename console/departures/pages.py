"""Finding the departure of a process, and showing one that changed to those who look at it."""

from console.departures.models import OPEN, Departure
from console.live import groups
from console.live.push import push_partial


def open_departure(name: str) -> Departure | None:
    return Departure.objects.filter(name=name, state__in=OPEN).first()


def push_departure(departure: Departure) -> None:
    for can_operate in (True, False):
        context = {"departure": departure, "can_operate": can_operate}
        push_partial(groups.processes(can_operate), "departures/progress.html", context)
