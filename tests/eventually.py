"""Waiting for a condition with a deadline, so that no test sleeps and hopes."""

import asyncio
import time
from collections.abc import Callable


async def eventually(condition: Callable[[], object], what: str, within_s: float = 10) -> None:
    """Returns as soon as `condition()` is true; fails the test, naming `what`, when it is not in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s} s: {what}")
        await asyncio.sleep(0.01)
