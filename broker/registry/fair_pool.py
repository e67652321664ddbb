"""Threads for what takes long, shared by clients in turns: a job of each client, then the next one of each.

A request that compares many schemas puts each comparison in by itself, so that its next one waits behind those of all
others. Whoever sends difficult schemas waits for itself.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from broker.common.security_limits import REGISTRY_JOBS_WAITING_MAX
from broker.registry.errors import RegistryError

Result = TypeVar("Result")
#: The address of the client whose request is being answered; empty: the registry's own work.
CLIENT: ContextVar[str] = ContextVar("client", default="")


class FairPool:
    """A pool for one event loop."""

    def __init__(self, threads: int, waiting_max: int = REGISTRY_JOBS_WAITING_MAX):
        """`waiting_max`: jobs of one client that wait; further ones are refused."""
        self._threads = ThreadPoolExecutor(threads, "schemas")
        self._free = threads
        self._waiting_max = waiting_max
        #: By client, in the order of their turns.
        self._waiting: OrderedDict[str, deque[tuple[asyncio.Future[Any], Callable[[], Any]]]] = OrderedDict()

    async def run(self, job: Callable[[], Result]) -> Result:
        """Return what `job` returns, or raise what it raises. Raises RegistryError 50301."""
        client, loop = CLIENT.get(), asyncio.get_running_loop()
        jobs = self._waiting.setdefault(client, deque())
        if len(jobs) >= self._waiting_max:
            raise RegistryError(50301, f"{len(jobs)} schemas of yours wait already; try again later")
        done: asyncio.Future[Result] = loop.create_future()
        jobs.append((done, job))
        self._begin_next()
        return await done

    def close(self) -> None:
        self._waiting.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _begin_next(self) -> None:
        while self._free and self._waiting:
            client, jobs = self._waiting.popitem(last=False)
            done, job = jobs.popleft()
            if jobs:
                self._waiting[client] = jobs
            if done.cancelled():
                continue
            self._free -= 1
            work = asyncio.get_running_loop().run_in_executor(self._threads, job)
            work.add_done_callback(partial(self._end, done=done))

    def _end(self, work: asyncio.Future[Any], done: asyncio.Future[Any]) -> None:
        self._free += 1
        error = None if work.cancelled() else work.exception()
        if not done.done():
            if work.cancelled():
                done.cancel()
            elif error is not None:
                done.set_exception(error)
            else:
                done.set_result(work.result())
        self._begin_next()
