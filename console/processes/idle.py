"""Whether the processes of this host rest, so that beat need not have all of them looked at in every second.

A look asks the database, each process and what the cluster says of it. While nobody looks on, and the last look found
everything as it was wanted, the next one comes after four seconds; within a second all the same when a process died or
was suspended, when a row has a wish, when a page is opened, or when anything was otherwise.
"""

import time
from collections.abc import Callable, Iterable

from django.conf import settings
from django.db.models import F, Q, QuerySet

from console.kit.common.kept_statements import kept_rows
from console.kit.live.idle_pace import is_any_page_open
from console.processes.models import ManagedProcess
from console.processes.os_process import ProcessIdentity, runs
from console.processes.states import Desired, Observed, Request
from console.processes.truths import ProcessState

#: Between two looks at processes that rest.
EVERY_S = 4.0
_WANTED = {
    Desired.RUNNING: (Observed.RUNNING, (ProcessState.HEALTHY, ProcessState.RUNNING)),
    Desired.STOPPED: (Observed.STOPPED, (ProcessState.STOPPED,)),
}


def is_as_wanted(process: ManagedProcess) -> bool:
    """Return whether the process is in its wanted state and no change is pending."""
    observed, states = _WANTED[Desired(process.desired)]
    return (
        process.request == Request.NONE
        and not process.is_leaving
        and process.observed == observed
        and process.state in states
    )


def has_pending_wish() -> bool:
    """Return whether any process of this host has a pending wish."""
    return bool(kept_rows(_wished_on, settings.HOST_NAME))


def _wished_on(host: str) -> QuerySet[ManagedProcess]:
    wished = ~Q(request=Request.NONE) | ~Q(observed=F("desired")) | Q(is_leaving=True)
    return ManagedProcess.objects.filter(wished, host=host).only("name")[:1]


class CooldownClock:
    """`began` and `ended` are called by whoever looks, `is_over` by beat, each from a thread of its own."""

    def __init__(
        self,
        is_disturbed: Callable[[], bool] = lambda: is_any_page_open() or has_pending_wish(),
        runs: Callable[[ProcessIdentity], bool] = runs,
        clock_s: Callable[[], float] = time.monotonic,
    ):
        self._is_disturbed = is_disturbed
        self._runs = runs
        self._clock_s = clock_s
        #: Until when, and who runs meanwhile.
        self._resting: tuple[float, frozenset[ProcessIdentity]] | None = None

    def began(self, running: Iterable[ProcessIdentity]) -> None:
        """Note that everything is as wanted, with these processes running."""
        self._resting = self._clock_s() + EVERY_S, frozenset(running)

    def ended(self) -> None:
        self._resting = None

    def is_over(self) -> bool:
        resting = self._resting
        if resting is None or self._clock_s() >= resting[0]:
            return True
        return not all(map(self._runs, resting[1])) or self._is_disturbed()


#: Of this worker.
REST = CooldownClock()
