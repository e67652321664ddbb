"""Tasks run in threads of the worker: a pool of processes would carry all that the console imports once more for each.

A thread cannot be killed. So a worker in which a task has run for longer than its time limit ends as a whole, and
whoever keeps it starts it anew; what it had not acknowledged is delivered again.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from celery.concurrency.thread import ApplyResult, TaskPool

LOOK_EVERY_S = 1.0
EXIT_STATUS = 1

logger = logging.getLogger(__name__)


class Hub(Protocol):
    """The worker's event loop (kombu.asynchronous.Hub)."""

    def call_repeatedly(self, delay: float, callback: Callable[[], None]) -> object: ...


class ThreadPool(TaskPool):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        #: Threads that run a task → when it will have run for too long (monotonic seconds).
        self._until: dict[int, float] = {}

    def on_apply(
        self,
        target: Callable[..., object],
        args: Sequence[object] | None = None,
        kwargs: dict[str, object] | None = None,
        callback: Callable[..., object] | None = None,
        accept_callback: Callable[..., object] | None = None,
        timeout: float | None = None,
        **_: object,
    ) -> ApplyResult:
        def run(*given: object, **named: object) -> object:
            thread = threading.get_ident()
            self._until[thread] = time.monotonic() + (timeout or float("inf"))
            try:
                return target(*given, **named)
            finally:
                del self._until[thread]

        return super().on_apply(run, args, kwargs, callback, accept_callback)

    def register_with_event_loop(self, hub: Hub) -> None:
        hub.call_repeatedly(LOOK_EVERY_S, self.end_if_stuck)

    def end_if_stuck(self) -> None:
        if any(until < time.monotonic() for until in list(self._until.values())):
            logger.error("a task has run for longer than its time limit: the worker ends")
            os._exit(EXIT_STATUS)
