"""Long lists without a long callback: others have their turn in between."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

from broker.common.limits import PARTITIONS_PER_CALLBACK

T = TypeVar("T")


async def paced(items: Iterable[T]) -> AsyncIterator[T]:
    """The items, PARTITIONS_PER_CALLBACK of them in one turn of the loop."""
    for number, item in enumerate(items, start=1):
        yield item
        if number % PARTITIONS_PER_CALLBACK == 0:
            await asyncio.sleep(0)
