"""A connector or task on its thread: started, paused, stopped; whatever its plugin raises or however long it hangs."""

import threading
import time
from collections.abc import Callable

from broker.common.backoff import Backoff
from broker.common.logs import logger
from broker.connect.group.wire import Unit
from broker.connect.redaction import NO_REFERENCES, Redaction, redacting
from broker.connect.tasks.retriable import is_retriable
from broker.connect.traces import error_text, sentence_of, trace_of

_log = logger("broker.connect")

#: Before a unit begins again that met a retriable failure; twice as long each time, from the first again once it ran
#: for longer than the longest.
RESTART_PAUSE_S, RESTART_PAUSE_MAX_S = 0.5, 30.0
#: Between two looks whether the worker is in its group again.
_HOLD_S = 0.05

#: Told of each state, with a trace if it failed.
Tell = Callable[[Unit, str, str | None], None]


class RunningUnit:
    """`run` is what the thread does; it ends soon after `stopping` is set, or is left behind when it hangs.

    A run that ends by a retriable failure (`retriable.py`) is followed by another one: a time-out of the cluster never
    ends a unit for good. So `run` begins with nothing of the run before.
    """

    def __init__(self, unit: Unit, tell: Tell, is_paused: bool, redaction: Redaction = NO_REFERENCES):
        """redaction: what the references of its configuration stand for; no text of an error shows it."""
        self.unit = unit
        self.stopping = threading.Event()
        self.failed = False
        self._resumed = threading.Event()
        self._is_abandoned = False
        self._is_faltering = False
        self._tell = tell
        self._redaction = redaction
        #: Whether the worker may run the unit, by its group; a task gets its worker's.
        self._holds: Callable[[], bool] = lambda: True
        if not is_paused:
            self._resumed.set()
        self._thread = threading.Thread(target=self._live_redacted, name=f"{unit.connector}-{unit.task}", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def run(self) -> None:
        raise NotImplementedError

    def interrupt(self) -> None:
        """Interrupt a blocking call soon; called from another thread."""

    @property
    def is_paused(self) -> bool:
        return not self._resumed.is_set()

    def pause(self) -> None:
        self._resumed.clear()

    def resume(self) -> None:
        self._resumed.set()

    def wait_while_paused(self, rest: Callable[[], None] = lambda: None) -> None:
        """Returns when resumed or stopped; `rest` is called again and again."""
        self.say("PAUSED")
        while not self.stopping.is_set() and not self._resumed.wait(0.2):
            rest()
        if not self.stopping.is_set():
            self.say("RUNNING")

    def ask_to_stop(self) -> None:
        self.stopping.set()
        try:
            self.interrupt()
        except Exception as error:  # a plugin's code, which is about to end anyway
            with redacting(self._redaction):
                trace = trace_of(error)
            _log.error("stop failed", connector=self.unit.connector, task=self.unit.task, exception=trace)

    def await_stop(self, timeout_s: float) -> bool:
        """Return whether it ended. One that hangs is not heard any more, whatever it says."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self._is_abandoned = True
            _log.error("does not stop, left behind", connector=self.unit.connector, task=self.unit.task)
        return not self._is_abandoned

    @property
    def may_write(self) -> bool:
        return not self._is_abandoned

    def say(self, state: str, trace: str | None = None) -> None:
        if not self._is_abandoned:
            self._tell(self.unit, state, trace)

    def falters(self, what: str, error: BaseException) -> None:
        """Note a failure that is retried; logged and shown in the status when it begins, not each time."""
        if not self._is_faltering:
            self._is_faltering = True
            _log.warning(what, connector=self.unit.connector, task=self.unit.task, reason=error_text(error))
            self.say("PAUSED" if self.is_paused else "RUNNING", sentence_of(error))

    def goes_on(self) -> None:
        if self._is_faltering:
            self._is_faltering = False
            _log.info("goes on", connector=self.unit.connector, task=self.unit.task)
            self.say("RUNNING")

    def _live_redacted(self) -> None:
        with redacting(self._redaction):
            self._live()

    def _live(self) -> None:
        backoff = Backoff(RESTART_PAUSE_S, RESTART_PAUSE_MAX_S)
        while True:
            began_s = time.monotonic()
            try:
                self.run()
                return
            except BaseException as error:  # a plugin's code, which may even exit: its failure is this unit's alone
                was_held = self._await_hold()
                if self.stopping.is_set():
                    self._stopped_in_the_middle(error)
                    return
                if was_held and not is_retriable(error):
                    self.failed = True
                    trace = trace_of(error)
                    _log.error("failed", connector=self.unit.connector, task=self.unit.task, exception=trace)
                    self.say("FAILED", trace)
                    return
                self._is_faltering = False
                self.falters("begins again", error)
            if time.monotonic() - began_s > RESTART_PAUSE_MAX_S:
                backoff.succeed()
            if self.stopping.wait(backoff.fail()):
                self.say("UNASSIGNED")
                return

    def _await_hold(self) -> bool:
        """Return whether the worker may run the unit now; if not, once it may again or the unit is to stop.

        A worker that was suspended wakes up with a task that its successor has fenced, perhaps before its group tells
        it to stop: that is no failure of the task, and must not be written over the successor's status.
        """
        if self._holds():
            return True
        while not self._holds() and not self.stopping.wait(_HOLD_S):
            pass
        return False

    def _stopped_in_the_middle(self, error: BaseException) -> None:
        _log.warning(
            "stopped in the middle", connector=self.unit.connector, task=self.unit.task, reason=error_text(error)
        )
        self.say("UNASSIGNED")
