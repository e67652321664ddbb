"""Tasks that run beside something and end with it: all of them, and what one had died of is said."""

import asyncio
import logging
from collections.abc import Iterable

logger = logging.getLogger(__name__)


async def end_tasks(tasks: Iterable[asyncio.Task[object]], *expected: type[Exception]) -> None:
    """Cancel `tasks` and wait for their end. What one had failed with is logged, unless it is of `expected`."""
    ended = list(tasks)
    for task in ended:
        task.cancel()
    for outcome in await asyncio.gather(*ended, return_exceptions=True):
        if isinstance(outcome, Exception) and not isinstance(outcome, expected):
            logger.error("a task in the background failed", exc_info=outcome)
