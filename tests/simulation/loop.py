"""The event loop of one simulated process. All loops share one timeline; each can be stopped alone, for a while
(SIGSTOP) or for ever (SIGKILL), and then simply runs no callback any more.
"""

import asyncio
import math
import socket
from asyncio import events
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

from tests.simulation.syscalls import HANGS, Syscalls
from tests.simulation.timeline import Timeline
from tests.simulation.transport import SocketTransport

if TYPE_CHECKING:
    from tests.simulation.sockets import Machine, SimulatedSocket

#: What a worker thread takes to do a piece of file work, at least.
_THREAD_US_MIN = 20
_DISK = "waits for its disk"


class Callback:
    """In the place of asyncio's handles, which do more than a run needs."""

    __slots__ = ("arguments", "context", "function", "is_cancelled")

    def __init__(self, function: Callable, arguments: tuple, context: Context | None = None):
        self.function = function
        self.arguments = arguments
        self.context = copy_context() if context is None else context
        self.is_cancelled = False

    def cancel(self) -> None:
        """It is passed over when its time comes."""
        self.is_cancelled = True

    def cancelled(self) -> bool:
        return self.is_cancelled


class HostLoop(asyncio.AbstractEventLoop):
    """As asyncio's: callbacks of one moment run in the order they were asked for, tasks are asyncio's own."""

    def __init__(self, timeline: Timeline, machine: "Machine", name: str, syscalls: Syscalls):
        self.machine = machine
        self.name = name
        self._timeline = timeline
        self._call_now = timeline.due.append
        self._readers: dict[int, Callback] = {}
        self._writers: dict[int, Callback] = {}
        self._sockets: dict[int, SimulatedSocket] = {}
        self._syscalls = syscalls
        #: Why it runs nothing at the moment.
        self._held_by: set[str] = set()
        self._held_back: list[Callback] = []
        self._is_on_thread = False
        self.is_dead = False
        #: Told of exceptions nobody caught.
        self.on_exception: Callable[[dict[str, Any]], None] = lambda context: None

    # -- what can be done to a process

    def pause(self, why: str = "stopped") -> None:
        self._held_by.add(why)

    def resume(self, why: str = "stopped") -> None:
        """What was due meanwhile is done now, in its order, unless something else holds it."""
        self._held_by.discard(why)
        if self._held_by:
            return
        held_back, self._held_back = self._held_back, []
        for callback in held_back:
            self._timeline.call_now(callback, self)

    def kill(self) -> list["SimulatedSocket"]:
        """No callback runs from now on. The sockets it leaves behind are for the kernel."""
        self.is_dead = True
        self._held_back.clear()
        return list(self._sockets.values())

    def connected_sockets(self) -> list["SimulatedSocket"]:
        return [sock for sock in self._sockets.values() if sock.is_connected]

    def takes(self, callback: Callback) -> bool:
        """Whether the process runs this callback now."""
        if self.is_dead or callback.is_cancelled:
            return False
        if self._held_by:
            self._held_back.append(callback)
            return False
        return True

    def wait_for_disk(self) -> None:
        """The disk hangs: nothing runs any more after this callback until it is well again. Threads wait alone."""
        if not self._is_on_thread:
            self.pause(_DISK)
            self.machine.waiting_for_disk.append(lambda: self.resume(_DISK))

    def run(self, callback: Callback) -> None:
        """One callback."""
        events._set_running_loop(self)
        syscalls = self._syscalls
        outer, syscalls.turn = syscalls.turn, (self, True, {})
        try:
            callback.context.run(callback.function, *callback.arguments)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # as asyncio does
            self._tell_exception(callback, error)
        finally:
            syscalls.turn = outer
            events._set_running_loop(None)

    def _call(self, callback: Callback) -> None:
        try:
            callback.context.run(callback.function, *callback.arguments)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            self._tell_exception(callback, error)

    def _tell_exception(self, callback: Callback, error: BaseException) -> None:
        self.call_exception_handler({"message": f"Exception in {callback.function!r}", "exception": error})

    # -- callbacks

    def time(self) -> float:
        return self._timeline.now_us / 1_000_000

    def call_soon(self, callback, *args, context=None) -> Callback:
        planned = Callback(callback, args, context)
        if not self.is_dead:
            self._call_now((planned, self))
        return planned

    def call_soon_threadsafe(self, callback, *args, context=None) -> Callback:
        """What a thread hands over is done at once: it would wait for it, and there is but one real thread."""
        if not self._is_on_thread:
            return self.call_soon(callback, *args, context=context)
        handed_over = Callback(callback, args, context)
        self._is_on_thread = False
        try:
            self.run(handed_over)
        finally:
            self._is_on_thread = True
        return handed_over

    def call_later(self, delay, callback, *args, context=None) -> Callback:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None) -> Callback:
        planned = Callback(callback, args, context)
        if not self.is_dead:
            self._timeline.plan_callback(math.ceil(when * 1_000_000 - 0.01), planned, self)
        return planned

    def create_future(self) -> asyncio.Future:
        return asyncio.Future(loop=self)

    def create_task(self, coro, *, name=None, context=None) -> asyncio.Task:
        return asyncio.Task(coro, loop=self, name=name, context=context)

    def run_in_executor(self, executor, func, *args) -> asyncio.Future:
        """Work on a thread is done at one moment, a little later; its outcome is known a little later again."""
        future = self.create_future()
        self.call_later(self._thread_s(), self._run_on_thread, future, func, args)
        return future

    def _run_on_thread(self, future: asyncio.Future, func: Callable, args: tuple) -> None:
        if self.machine.disk_trouble == HANGS:
            self.machine.waiting_for_disk.append(lambda: self.call_soon(self._run_on_thread, future, func, args))
            return
        events._set_running_loop(None)  # a thread has none
        self._is_on_thread = True
        outer, self._syscalls.turn = self._syscalls.turn, (self, False, {})
        try:
            settle, outcome = future.set_result, func(*args)
        except Exception as error:
            settle, outcome = future.set_exception, error
        finally:
            self._syscalls.turn = outer
            self._is_on_thread = False
        self.call_later(self._thread_s(), lambda: future.done() or settle(outcome))

    def _thread_s(self) -> float:
        return self.machine.random.randint(_THREAD_US_MIN, self.machine.thread_us_max) / 1_000_000

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return self.is_dead

    def get_debug(self) -> bool:
        return False

    def get_exception_handler(self):
        return None

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self.is_dead:
            self.on_exception(context)

    # -- sockets

    def own(self, sock: "SimulatedSocket") -> None:
        self._sockets[sock.fileno()] = sock

    def disown(self, sock: "SimulatedSocket") -> None:
        self._sockets.pop(sock.fileno(), None)

    def add_reader(self, fd: int, callback, *args) -> None:
        self._readers[fd] = Callback(callback, args)
        self._sockets[fd].wake()

    def remove_reader(self, fd: int) -> bool:
        return self._readers.pop(fd, None) is not None

    def add_writer(self, fd: int, callback, *args) -> None:
        self._writers[fd] = Callback(callback, args)
        self._sockets[fd].wake()

    def remove_writer(self, fd: int) -> bool:
        return self._writers.pop(fd, None) is not None

    def waits_to_write(self, fd: int) -> bool:
        return fd in self._writers

    def poll(self, sock: "SimulatedSocket") -> None:
        """Call who waits for the socket, if there is reason to."""
        fd = sock.fileno()
        reader = self._readers.get(fd)
        if reader is not None and sock.is_readable():
            self._call(reader)
        writer = self._writers.get(fd)
        if writer is not None and sock.is_writable():
            self._call(writer)
        if (fd in self._readers and sock.is_readable()) or (fd in self._writers and sock.is_writable()):
            sock.wake()

    async def getaddrinfo(self, host, port, *, family=0, type=0, proto=0, flags=0):
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port))]

    async def sock_connect(self, sock: "SimulatedSocket", address: tuple[str, int]) -> None:
        await self.machine.connect(sock, address)

    async def sock_sendall(self, sock: "SimulatedSocket", data: bytes) -> None:
        while data:
            try:
                data = data[sock.sendmsg([data]) :]
            except BlockingIOError:
                await self._until_ready(sock, self.add_writer, self.remove_writer)

    async def sock_recv(self, sock: "SimulatedSocket", size: int) -> bytes:
        while True:
            try:
                return sock.recv(size)
            except BlockingIOError:
                await self._until_ready(sock, self.add_reader, self.remove_reader)

    async def _until_ready(self, sock: "SimulatedSocket", add: Callable, remove: Callable) -> None:
        ready = self.create_future()
        fd = sock.fileno()
        add(fd, lambda: ready.done() or ready.set_result(None))
        try:
            await ready
        finally:
            remove(fd)

    async def create_connection(self, protocol_factory, host=None, port=None, *, sock: "SimulatedSocket", **options):
        protocol = protocol_factory()
        return SocketTransport(self, sock, protocol), protocol
