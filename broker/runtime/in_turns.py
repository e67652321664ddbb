"""Many things done for one request, while others have their turn: a handful of bytes can name what takes seconds.

Counted and timed: one of these things takes some ten to fifty microseconds as a rule, but an append whose timestamp
lets a segment end takes a millisecond, and a client chooses its timestamps.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from inspect import isawaitable, iscoroutine
from itertools import islice
from typing import Any, NamedTuple, TypeVar, overload

from broker.common.limits import THINGS_IN_A_TURN
from broker.net.turns import Turns

_FREED_BEFORE_A_LOOK = 50
Thing = TypeVar("Thing")
Result = TypeVar("Result")


@overload
async def in_turns(
    things: Iterable[Thing],
    do: Callable[[Thing], Awaitable[Result]],
    turns: Turns,
    *,
    size_of: Callable[[Thing], int] = ...,
) -> list[Result]: ...


@overload
async def in_turns(
    things: Iterable[Thing],
    do: Callable[[Thing], Result | Awaitable[Result]],
    turns: Turns,
    *,
    size_of: Callable[[Thing], int] = ...,
) -> list[Result]: ...


async def in_turns(
    things: Iterable[Thing],
    do: Callable[[Thing], Result | Awaitable[Result]],
    turns: Turns,
    *,
    size_of: Callable[[Thing], int] = lambda _thing: 1,
) -> list[Result]:
    """Return what `do` makes of each thing, yielding to others between them; `size_of` weighs a thing."""
    results: list[Result] = []
    left, end = THINGS_IN_A_TURN, turns.whole_slice_end()
    for thing in things:
        if left <= 0 or turns.is_over(end):
            await turns.mine()
            left, end = THINGS_IN_A_TURN, turns.whole_slice_end()
        left -= size_of(thing)
        result = do(thing)
        results.append(await result if isawaitable(result) else result)
    return results


async def asked_in_turns(
    things: Iterable[Thing], ask: Callable[[Thing], Result | Awaitable[Result]], turns: Turns
) -> list[Result]:
    """Return the answers in order; every question is sent before any answer is awaited."""
    replies = await in_turns(things, lambda thing: (ask(thing),), turns)
    return [await reply if isawaitable(reply) else reply for (reply,) in replies]


async def partitions_in_turns(
    by_topic: dict[str, list[Thing]], do: Callable[[str, Thing], Result | Awaitable[Result]], turns: Turns
) -> list[tuple[str, list[Result]]]:
    """Return by topic what `do` makes of each partition, yielding to others between them."""
    pairs = ((topic, partition) for topic, partitions in by_topic.items() for partition in partitions)
    results = iter(await in_turns(pairs, lambda pair: do(*pair), turns))
    return [(topic, list(islice(results, len(partitions)))) for topic, partitions in by_topic.items()]


async def steps_in_turns(steps: Generator[None, None, Result], turns: Turns) -> Result:
    """Run the steps, yielding to others between them, and return their result."""
    try:
        while True:
            next(steps)
            await turns.mine()
    except StopIteration as end:
        result: Result = end.value
        return result


async def emptied_in_turns(container: dict[Any, Any] | list[Any], turns: Turns) -> None:
    """Empty the container, yielding to others: freeing 30,000 groups at once takes a tenth of a second."""
    take: Callable[[], object] = container.popitem if isinstance(container, dict) else container.pop
    while container:
        await turns.mine()
        end = turns.whole_slice_end()
        while container and not turns.is_over(end):
            for _ in range(min(len(container), _FREED_BEFORE_A_LOOK)):
                take()


class InOrder(NamedTuple):
    """A reply that comes later. Nothing else of its connection is begun before `is_done`."""

    reply: Coroutine[Any, Any, Any]
    is_done: asyncio.Future[None]


async def once_done(reply: Result | Awaitable[Result] | InOrder) -> Result | Awaitable[Result]:
    """Complete a reply that takes turns with others, when nothing can overtake it any more."""
    if not isinstance(reply, InOrder):
        return reply
    working = asyncio.ensure_future(reply.reply)
    try:
        await reply.is_done
    except BaseException:
        working.cancel()
        raise
    return working


def begun(reply: Result | Awaitable[Result]) -> Result | Awaitable[Result]:
    """Start an awaitable reply now; it completes even if nothing awaits it."""
    return asyncio.ensure_future(reply) if iscoroutine(reply) else reply


def in_order(work: Callable[[Callable[[], None]], Awaitable[Any]]) -> InOrder:
    """Answer in order. `work(done)` makes the reply, and calls `done` once later requests may overtake it, at its end
    at the latest.
    """
    is_done = asyncio.get_running_loop().create_future()

    def done() -> None:
        if not is_done.done():
            is_done.set_result(None)

    async def reply() -> Any:
        try:
            return await work(done)
        finally:
            done()

    return InOrder(reply(), is_done)
