"""How a process looks on a page, and the push of one that changed."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from console.access.read_only import why_read_only
from console.access.rights import REFUSALS, Right
from console.live import groups
from console.live.push import push_partial
from console.processes.models import ManagedProcess
from console.processes.states import Observed, Request

#: Colour of a state; never alone, always beside its word.
TONES = {
    Observed.RUNNING: "ok",
    Observed.STARTING: "busy",
    Observed.STOPPING: "busy",
    Observed.UNRESPONSIVE: "warning",
    Observed.EXITED: "critical",
    Observed.STOPPED: "plain",
}

_REQUESTED = {Request.START: "start requested", Request.STOP: "stop requested", Request.RESTART: "restart requested"}


@dataclass(frozen=True)
class Shown:
    """A row with what only a page needs."""

    process: ManagedProcess
    now: datetime

    @property
    def tone(self) -> str:
        return TONES[Observed(self.process.observed)]

    @property
    def sentence(self) -> str:
        """The sentence without the state's word, which stands beside it already."""
        text = self.requested or self.process.sentence
        return text.removeprefix(self.process.observed).lstrip(": ")

    @property
    def kind_note(self) -> str:
        """What kind of process it is, where the name does not say so."""
        return "" if self.process.name.startswith(self.process.kind) else self.process.get_kind_display()

    @property
    def why_read_only(self) -> str:
        return REFUSALS[Right.OPERATE]

    @property
    def requested(self) -> str:
        return _REQUESTED.get(self.process.request, "")

    @property
    def uptime(self) -> str:
        if self.process.pid is None or self.process.started_at is None:
            return ""
        return name_duration((self.now - self.process.started_at).total_seconds())

    @property
    def why_no_start(self) -> str:
        """Why Start is disabled; empty when it is not."""
        if self.process.request:
            return self.requested
        return f"{self.process.name} is {self.process.observed} already" if self.process.pid is not None else ""

    @property
    def why_no_stop(self) -> str:
        """Why Stop and Restart are disabled; empty when they are not."""
        if self.process.request:
            return self.requested
        if self.process.pid is None:
            return f"{self.process.name} does not run"
        return f"{self.process.name} is stopping already" if self.process.observed == Observed.STOPPING else ""


def push_process(process: ManagedProcess) -> None:
    """Show the process as it is now to everybody who looks at the list or at its page."""
    shown = Shown(process, timezone.now())
    read_only = why_read_only()
    context = {"shown": shown, "read_only": read_only}
    for can_operate in (True, False):
        for template in ("processes/row.html", "processes/state.html"):
            push_partial(
                groups.processes(can_operate), template, {**context, "can_operate": can_operate and not read_only}
            )


def name_duration(seconds: float) -> str:
    """4 s · 3 m 12 s · 5 h 3 m · 2 d 4 h: the two largest units."""
    units = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
    rest, parts = max(0, int(seconds)), []
    for size, unit in units:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
