"""Several things done at the same time, for those that own no event loop."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def at_once(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What each came to, in their order. If one raises, the others are cancelled and an ExceptionGroup is raised."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work) for work in works]
    return [task.result() for task in tasks]
