"""What a broker does again and again as long as it lives. What one round raises costs that round, not all that would
have come: nobody would miss the rest before it is needed.
"""

import asyncio
from collections.abc import Awaitable, Callable

from broker.common.logs import logger

_log = logger(__name__)

AFTER_FAILURE_S = 1.0


async def rounds(one_round: Callable[[], Awaitable[object]]) -> None:
    """Await `one_round()`, which waits for its time itself, again and again, until cancelled.

    What it raises is logged with its traceback, and the next begins after AFTER_FAILURE_S: it may fail at once as well.
    """
    while True:
        try:
            await one_round()
        except Exception:
            _log.exception("a round failed, the next one comes", of=one_round.__qualname__)
            await asyncio.sleep(AFTER_FAILURE_S)
