"""What features do every few seconds in each process: on the worker's timer and the web server's, without a thread."""

import asyncio
from collections.abc import Callable

from console.kit.common.hook_point import HookPoint

#: Whole seconds, as uvicorn has its `timeout_notify`.
EVERY_S = 5
TICKS = HookPoint[Callable[[], None]]("console.kit.common.ticks.TICKS")


def tick() -> None:
    for feature_tick in TICKS:
        feature_tick()


async def tick_in_thread() -> None:
    """Do the same on a thread of the pool, since Redis may be slow."""
    await asyncio.to_thread(tick)
