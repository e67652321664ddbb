"""What the header of a process's pages tells of it."""

from django.template.defaultfilters import filesizeformat

from console.kit.access.reach import Reach
from console.kit.features.headers import HeaderFacts, KeyFigure
from console.processes.models import ManagedProcess
from console.processes.presenters import Shown

_RESTART, _STOP, _KILL, _REMOVE = "Restart…", "Stop…", "Kill…", "Remove process…"


def facts(shown: Shown, _reach: Reach) -> HeaderFacts:
    """Return the facts of the process; a figure that is not known is a dash."""
    process, without = shown.process, without_what_cannot_be(shown)
    cpu, memory = process.cpu_percent, process.memory_bytes
    return HeaderFacts(
        name=process.name,
        note=shown.kind_note,
        word=process.state,
        tone=shown.tone,
        meaning=shown.sentence,
        figures=(
            KeyFigure("Up for", shown.uptime or "–", "uptime"),
            KeyFigure("Memory", "–" if memory is None else filesizeformat(memory), "memory"),
            KeyFigure("CPU", "–" if cpu is None else f"{cpu:.0f} %", "cpu", "Of one core"),
        ),
        process_kind=process.kind,
        main="" if _RESTART in without else _RESTART,
        without=without,
    )


def without_what_cannot_be(shown: Shown) -> frozenset[str]:
    """Return the titles of the actions that the state of the process, or its kind, leaves no room for."""
    without = {_RESTART, _STOP} if shown.why_no_stop else set()
    if shown.process.pid is None:
        without.add(_KILL)
    if shown.process.kind == ManagedProcess.Kind.STREAM:
        without.add(_REMOVE)
    return frozenset(without)
