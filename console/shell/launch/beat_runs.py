"""What beat runs, run in the pool of the worker that it is a thread of, without a message.

A message goes through Redis and back into the same process, and Celery opens the database anew for each: together ten
times what a look at processes at rest takes. Nothing is lost without one: whatever was not done is due again soon, and
Redis need not be there for it.
"""

import logging
from collections.abc import Callable
from typing import Protocol

from django.db import connections

logger = logging.getLogger(__name__)


class Pool(Protocol):
    def apply_async(self, target: Callable[..., object], args: tuple[object, ...], **options: object) -> object: ...


class BeatRuns:
    """One run of each entry at a time: one that is due while its last run waits or goes on is left out."""

    def __init__(self, pool: Pool, timeout_s: float) -> None:
        self._pool, self._timeout_s = pool, timeout_s
        self._under_way: set[str] = set()

    def begin(self, name: str, task: Callable[..., object], args: tuple[object, ...]) -> None:
        if name in self._under_way:
            return
        self._under_way.add(name)
        try:
            self._pool.apply_async(self._run, (name, task, args), callback=_nothing, timeout=self._timeout_s)
        except RuntimeError as error:  # the worker ends
            self._under_way.discard(name)
            logger.debug("%s is not run: %s", name, error)

    def _run(self, name: str, task: Callable[..., object], args: tuple[object, ...]) -> None:
        try:
            task(*args)
        except Exception:
            logger.exception("%s failed", name)
            connections.close_all()  # a database that went away is connected to anew
        finally:
            self._under_way.discard(name)


def _nothing(_result: object) -> None:
    """Do nothing with the result that Celery's pools pass."""
