"""Finding the departure of a process."""

from console.decommission.models import OPEN, Departure
from console.processes.models import ManagedProcess


def open_departure(name: str) -> Departure | None:
    return Departure.objects.filter(name=name, state__in=OPEN).first()


def ended_departure(name: str) -> Departure | None:
    """The last one of a process that it took away, until there is a process of that name again."""
    if ManagedProcess.objects.filter(name=name).exists():
        return None
    last = Departure.objects.filter(name=name).first()
    return last if last is not None and last.state == Departure.State.DONE else None
