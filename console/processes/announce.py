"""The push of a process that changed, or is gone, to those who look at it."""

from django.utils import timezone

from console.kit.access.reach import EVERYTHING
from console.kit.access.read_only import why_read_only
from console.kit.features.headers import facts_of
from console.kit.live import groups
from console.kit.live.push import push_partial, push_partials
from console.processes.models import ManagedProcess
from console.processes.presenters import ManagedProcessRow


def push_process(process: ManagedProcess) -> None:
    """Push the process's row to the list and to its page."""
    shown = ManagedProcessRow(process, timezone.now())
    read_only = why_read_only()
    context = {"shown": shown, "read_only": read_only, "user": None}
    figures: dict[str, object] = {"facts": facts_of("process", shown, EVERYTHING)}
    push_partials(
        [
            (groups.processes(can_operate), template, {**context, "can_operate": can_operate and not read_only})
            for can_operate in (True, False)
            for template in ("processes/row.html", "processes/state.html")
        ]
        + [(groups.processes(can_operate), "components/object-figures.html", figures) for can_operate in (True, False)]
    )


def push_removed(name: str) -> None:
    """Push that the process is gone: lists and its own page fetch themselves again."""
    for group in (groups.processes(True), groups.processes(False), groups.STREAMS):
        push_partial(group, "live/resync.html", {"version": f"without-{name}"})
