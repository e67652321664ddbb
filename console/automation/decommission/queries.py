"""Finding the decommission of a process."""

from console.automation.decommission.models import Decommission
from console.processes.models import ManagedProcess


def open_decommission(name: str) -> Decommission | None:
    return Decommission.open_ones().filter(name=name).first()


def ended_decommission(name: str) -> Decommission | None:
    """Return the last decommission that removed a process of this name, until there is such a process again."""
    if ManagedProcess.objects.filter(name=name).exists():
        return None
    last = Decommission.objects.filter(name=name).first()
    return last if last is not None and last.state == Decommission.State.DONE else None
