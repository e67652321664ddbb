"""The same question about many znodes: some are under way at a time, and the loop has its turns between them.

Each call into kazoo wakes its thread, which takes the interpreter from the loop for a moment: a thousand of them in one
turn stood in the way of everything else for half a second.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

#: So few that asking them takes some milliseconds, enough for the way there and back not to be waited for.
AT_ONCE = 16


async def ask_each(ask: Callable[[Asked], Awaitable[Answer]], about: Iterable[Asked]) -> list[Answer]:
    """Return the answers in order. The first error ends all of it; nothing more is asked then."""
    left = deque(enumerate(about))
    answers: dict[int, Answer] = {}
    count = len(left)

    async def ask_what_is_left() -> None:
        while left:
            at, one = left.popleft()
            try:
                answers[at] = await ask(one)
            except BaseException:
                left.clear()
                raise

    await asyncio.gather(*(ask_what_is_left() for _ in range(min(AT_ONCE, count))))
    return [answers[at] for at in range(count)]
