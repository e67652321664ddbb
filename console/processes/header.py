"""What the header of a process's pages tells of it."""

from django.template.defaultfilters import filesizeformat

from console.kit.access.reach import Reach
from console.kit.features.headers import HeaderFacts, KeyFigure
from console.processes.presenters import Shown


def facts(shown: Shown, _reach: Reach) -> HeaderFacts:
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
        live_id=f"figures-process-{process.name}",
    )
