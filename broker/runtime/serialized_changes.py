"""One change of what the controller decides at a time, and each to its end.

A request is cancelled with its connection, and a controller that has waited for too long, or sees us registered anew,
closes it and asks again. It would meet what is half done: a log whose directory has been renamed, and that is still
known, can neither be deleted nor made anew.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from broker.common.errors import ApiError
from broker.common.logs import logger

T = TypeVar("T")

_log = logger(__name__)


class SerializedChanges(asyncio.Lock):
    """Serializes changes that may take a while: roles, or what is known of the cluster."""

    def __init__(self) -> None:
        super().__init__()
        self._under_way: set[asyncio.Task[Any]] = set()

    async def to_the_end(self, change: Callable[[], Awaitable[T]]) -> T:
        """Run `change` alone, to its end even if the caller is cancelled, and return its result."""
        work = asyncio.ensure_future(self._alone(change))
        self._under_way.add(work)
        work.add_done_callback(self._under_way.discard)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            work.add_done_callback(_log_unforeseen)
            raise

    async def _alone(self, change: Callable[[], Awaitable[T]]) -> T:
        async with self:
            return await change()

    async def close(self) -> None:
        """Cancel work under way when the broker stops: it may wait for what never comes again."""
        for work in self._under_way:
            work.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)


def _log_unforeseen(work: asyncio.Task[Any]) -> None:
    """Log unforeseen errors of unawaited work; a refusal is none."""
    if not work.cancelled() and (error := work.exception()) is not None and not isinstance(error, ApiError):
        _log.error("what a controller said was not done", exc_info=error)
