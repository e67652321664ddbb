"""How a process looks on a page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from console.kit.access.log_tail import sentence_within
from console.kit.access.reach import EVERYTHING, Reach
from console.kit.access.rights import REFUSALS, Right
from console.processes.models import ManagedProcess
from console.processes.removal import restart_policy_text
from console.processes.restarts import clock_time, deaths_within
from console.processes.states import Observed, Request
from console.processes.truths import ProcessState

#: Colour of a state; never alone, always beside its word.
TONES = {
    ProcessState.HEALTHY: "ok",
    ProcessState.RUNNING: "ok",
    ProcessState.REGISTERED: "ok",
    ProcessState.STARTING: "busy",
    ProcessState.CATCHING_UP: "busy",
    ProcessState.STOPPING: "busy",
    ProcessState.UNREGISTERED: "warning",
    ProcessState.UNRESPONSIVE: "warning",
    ProcessState.SUSPENDED: "warning",
    ProcessState.FLAPPING: "critical",
    ProcessState.DEAD_REGISTERED: "critical",
    ProcessState.EXITED: "critical",
    ProcessState.FAILED: "critical",
    ProcessState.STOPPED: "plain",
}

_REQUESTED: Mapping[str, str] = {
    Request.START: "start requested",
    Request.STOP: "stop requested",
    Request.RESTART: "restart requested",
    Request.KILL: "kill requested",
}


@dataclass(frozen=True)
class ManagedProcessRow:
    """A row with what only a page needs."""

    process: ManagedProcess
    now: datetime
    #: Of who looks.
    reach: Reach = EVERYTHING

    @property
    def tone(self) -> str:
        return TONES[ProcessState(self.process.state)]

    @property
    def sentence(self) -> str:
        """The sentence without the state's word, which stands beside it already."""
        text = self.requested or sentence_within(self.reach, self.process.state_sentence)
        return text.removeprefix(self.process.state).lstrip(": ")

    @property
    def kind_note(self) -> str:
        """The kind of the process, if the name does not say it."""
        name, label = self.process.name, self.process.get_kind_display()
        return "" if name.startswith((self.process.kind, label.replace(" ", "-"))) else label

    @property
    def why_read_only(self) -> str:
        return REFUSALS[Right.OPERATE]

    @property
    def requested(self) -> str:
        return _REQUESTED.get(self.process.request, "")

    @property
    def os_says(self) -> str:
        """The second of the four truths: whether the very process that was started lives."""
        process = self.process
        if process.pid is not None:
            born = timezone.localtime(process.started_at) if process.started_at else None
            return f"pid {process.pid} lives, started at {clock_time(born)}, run {process.run_token[:8]}"
        if process.waits_for_restart:
            return f"no process; the next is started at {clock_time(timezone.localtime(process.start_again_at))}"
        ended = f"; the last one ended with status {process.exit_status}" if process.exit_status is not None else ""
        return f"no process{ended}"

    @property
    def recent_deaths(self) -> int:
        return len(deaths_within(self.process.deaths, int(self.now.timestamp() * 1000)))

    @property
    def restart_policy_text(self) -> str:
        return restart_policy_text(self.process.restart)

    @property
    def uptime(self) -> str:
        if self.process.pid is None or self.process.started_at is None:
            return ""
        return name_duration((self.now - self.process.started_at).total_seconds())

    @property
    def why_no_start(self) -> str:
        """Why Start is disabled; empty if it is enabled."""
        if self.process.request:
            return self.requested
        return f"{self.process.name} is {self.process.state} already" if self.process.pid is not None else ""

    @property
    def why_no_stop(self) -> str:
        """Why Stop and Restart are disabled; empty if they are enabled."""
        if self.process.request:
            return self.requested
        if self.process.pid is None and not self.process.waits_for_restart:
            return f"{self.process.name} does not run"
        return f"{self.process.name} is stopping already" if self.process.observed == Observed.STOPPING else ""


def name_duration(seconds: float) -> str:
    """Format 4 s · 3 m 12 s · 5 h 3 m · 2 d 4 h: the two largest units."""
    units = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
    rest = max(0, int(seconds))
    parts: list[str] = []
    for size, unit in units:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
