"""Stop the started parts of a broker in the reverse order."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from inspect import isawaitable

from broker.common.logs import logger

_log = logger(__name__)

#: Stops one thing, perhaps later.
Stop = Callable[[], Awaitable[object] | None]


class LoggingExitStack:
    """Whatever starts says at once how it is stopped. What a stop meets is logged, and keeps no other from its turn."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()

    def add(self, *stops: Stop) -> None:
        """Push a callback; the last one pushed is called first."""
        for stop in stops:
            self._stack.push_async_callback(_carry_on_after, stop)

    async def leave(self) -> None:
        """Leave the cluster; a second call does nothing."""
        await self._stack.aclose()


async def _carry_on_after(stop: Stop) -> None:
    try:
        outcome = stop()
        if isawaitable(outcome):
            await outcome
    except Exception:
        _log.exception("stopping goes on", failed=getattr(stop, "__qualname__", str(stop)))
