"""What the header of a process's pages tells of it."""

from django.template.defaultfilters import filesizeformat

from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right
from console.kit.features.headers import HeaderFacts, KeyFigure
from console.processes.models import ManagedProcess
from console.processes.presenters import ManagedProcessRow

_REMOVE = "Remove process…"


def facts(shown: ManagedProcessRow, reach: Reach) -> HeaderFacts:
    """Return the facts of the process; a figure that is not known is a dash."""
    process = shown.process
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
        main="Restart…",
        without=not_offered(process, reach),
        live_id=f"figures-process-{process.name}",
    )


def not_offered(process: ManagedProcess, reach: Reach) -> frozenset[str]:
    """Return the buttons of verbs that make no sense for the process, or whose page is closed to that reach."""
    return frozenset() if _is_removable(process, reach) else frozenset({_REMOVE})


def _is_removable(process: ManagedProcess, reach: Reach) -> bool:
    """Return whether the page of removal is open to people of that reach who operate the process.

    A stream job is removed with its checkpoint, on a page of its own. A broker may hold a replica of any topic.
    """
    if process.kind == ManagedProcess.Kind.BROKER:
        return not reach.is_limited(Resource.TOPIC, Right.VIEW)
    return process.kind != ManagedProcess.Kind.STREAM
