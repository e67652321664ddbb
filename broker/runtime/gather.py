"""Several things done at the same time, for those that own no event loop."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from broker.common.limits import THINGS_IN_A_TURN
from broker.net.turns import Turns

T = TypeVar("T")


async def gather(works: Iterable[Coroutine[Any, Any, T]], turns: Turns) -> list[T]:
    """Return the results in order. If one raises, the others are cancelled and an ExceptionGroup is raised.

    They begin a slice at a time, so that others have their turn while many do.
    """
    tasks = []
    async with asyncio.TaskGroup() as group:
        for count, work in enumerate(works):
            if count and count % THINGS_IN_A_TURN == 0:
                await turns.mine()
            tasks.append(group.create_task(work))
    return [task.result() for task in tasks]
