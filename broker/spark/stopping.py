"""A driver that is told to stop ends within seconds, whatever Spark is doing.

While Spark starts, the driver's only thread waits inside it, on a busy machine for a minute or more, and heeds nothing;
nothing has been read then, so it may end at once. A query is stopped in order, unless that takes too long: its batch is
then done again by the next driver, as after a kill.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

#: A query that stops gets this long; whoever stops the process waits for 15 s before killing it.
STOP_S = 12.0
_LOOK_EVERY_S = 0.2


class StopGuard:
    """Calls `end` from a thread of its own when `stop` is set and the block does not end in time.

    `end` does not return: it ends the process.
    """

    def __init__(self, stop: Event, end: Callable[[], None], stop_s: float = STOP_S):
        self.stop = stop
        self._end = end
        self._stop_s = stop_s
        self._over = Event()
        self._is_starting = False
        self._thread = Thread(target=self._watch, name="stop-guard", daemon=True)

    def __enter__(self) -> "StopGuard":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._over.set()

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Allow the block to be abandoned at any moment."""
        self._is_starting = True
        try:
            yield
        finally:
            self._is_starting = False

    def _watch(self) -> None:
        while not self.stop.wait(_LOOK_EVERY_S):
            if self._over.is_set():
                return
        left_s = self._stop_s
        while not self._is_starting and left_s > 0:
            if self._over.wait(_LOOK_EVERY_S):
                return
            left_s -= _LOOK_EVERY_S
        self._end()
