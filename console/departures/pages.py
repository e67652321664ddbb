"""Finding the departure of a process, and showing one that changed to those who look at it."""

from console.departures.models import OPEN, Departure
from console.live import groups
from console.live.push import push_partial
from console.processes.models import ManagedProcess


def open_departure(name: str) -> Departure | None:
    return Departure.objects.filter(name=name, state__in=OPEN).first()


def ended_departure(name: str) -> Departure | None:
    """The last one of a process that it took away, until there is a process of that name again."""
    if ManagedProcess.objects.filter(name=name).exists():
        return None
    last = Departure.objects.filter(name=name).first()
    return last if last is not None and last.state == Departure.State.DONE else None


def push_departure(departure: Departure) -> None:
    for can_operate in (True, False):
        context = {"departure": departure, "can_operate": can_operate}
        push_partial(groups.processes(can_operate), "departures/progress.html", context)
