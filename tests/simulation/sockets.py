"""Sockets of simulated machines: what `broker/net` and asyncio ask of the kernel, over lanes of the simulated network.

Bytes arrive in pieces of any size, a full buffer takes a part of what is sent or nothing, and a connection that breaks
may have delivered half a frame.
"""

import errno
import itertools
import socket
from asyncio import events
from collections import deque
from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from tests.simulation.network import Lane, Network

if TYPE_CHECKING:
    from tests.simulation.loop import HostLoop

#: Sent and not yet read by the peer, in one direction.
_BUFFER_BYTES = 64 * 1024
_SPLIT_SHARE = 0.1
_fds = itertools.count(1_000_000)

_THREAD_US = 2_000
_SLOW_THREAD_US = 60_000
_SLOW_DISKS_SHARE = 0.25


class Machine:
    """A kernel with an address. It outlives the processes that run on it."""

    def __init__(self, name: str, address: str, network: Network, random: Random, internet: dict[str, "Machine"]):
        self.name = name
        self.address = address
        self.network = network
        self.random = random
        self._internet = internet
        self.listening: dict[int, SimulatedSocket] = {}
        self.ephemeral_ports = itertools.count(40_000)
        #: One of `syscalls.TROUBLES`.
        self.disk_trouble: str | None = None
        #: What a worker thread takes for a piece of file work, at most. One disk of four is a slow one.
        self.thread_us_max = _SLOW_THREAD_US if random.random() < _SLOW_DISKS_SHARE else _THREAD_US
        #: What goes on when the disk does.
        self.waiting_for_disk: list[Callable[[], None]] = []
        #: How far its wall clock is ahead.
        self.wall_offset_ms = 0
        internet[address] = self

    def mend_disk(self) -> None:
        self.disk_trouble = None
        waiting, self.waiting_for_disk = self.waiting_for_disk, []
        for go_on in waiting:
            go_on()

    def new_socket(self, loop: "HostLoop") -> "SimulatedSocket":
        return SimulatedSocket(loop=loop)

    async def connect(self, sock: "SimulatedSocket", address: tuple[str, int]) -> None:
        """Returns when the other machine has answered; a cut link lets it wait."""
        host, port = address
        if host not in self._internet:
            raise OSError(errno.EHOSTUNREACH, f"no route to {host}")
        target = self._internet[host]
        established = sock.loop.create_future()
        sock.begin(Lane(self.network, self.name, target.name), (host, port), next(self.ephemeral_ports))
        sock.outgoing.send(lambda: target.connection_asked_for(sock, port, established))
        await established

    def connection_asked_for(self, client: "SimulatedSocket", port: int, established) -> None:
        back = Lane(self.network, self.name, client.machine.name)
        listener = self.listening.get(port)
        if client.is_closed:
            return
        if listener is None:
            refusal = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
            back.send(lambda: established.done() or established.set_exception(refusal))
            return
        served = SimulatedSocket(loop=listener.loop)
        served.begin(back, (client.machine.address, client.port), port)
        served.peer, client.peer = client, served
        listener.backlog.append(served)
        listener.wake()
        back.send(lambda: established.done() or established.set_result(None))


class SimulatedSocket:
    """Non-blocking, stream. Made by the process whose loop is running, as `socket.socket`."""

    def __init__(self, family=socket.AF_INET, type=socket.SOCK_STREAM, proto=0, *, loop: "HostLoop | None" = None):
        self.loop = loop or events.get_running_loop()
        self.machine = self.loop.machine
        self._fd = next(_fds)
        self.port = 0
        self._peer_name: tuple[str, int] = ("", 0)
        self.peer: SimulatedSocket | None = None
        self.outgoing: Lane | None = None
        self.backlog: deque[SimulatedSocket] = deque()
        self._received = bytearray()
        #: Sent by us, not yet read by the peer.
        self._unread = 0
        self._has_ended = False
        self._is_reset = False
        self._is_awake = False
        self.is_closed = False
        self.loop.own(self)

    # -- what programs call

    def fileno(self) -> int:
        return -1 if self.is_closed else self._fd

    def setblocking(self, flag: bool) -> None:
        """Never blocks."""

    def setsockopt(self, *options) -> None:
        """Nothing that options change is simulated."""

    def bind(self, address: tuple[str, int]) -> None:
        if address[1] in self.machine.listening:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        self.port = address[1]

    def listen(self, backlog: int = 0) -> None:
        self.machine.listening[self.port] = self

    def accept(self) -> tuple["SimulatedSocket", tuple[str, int]]:
        if not self.backlog:
            raise BlockingIOError
        served = self.backlog.popleft()
        return served, served.getpeername()

    def getsockname(self) -> tuple[str, int]:
        return self.machine.address, self.port

    def getpeername(self) -> tuple[str, int]:
        return self._peer_name

    def recv_into(self, view: memoryview) -> int:
        data = self.recv(len(view))
        view[: len(data)] = data
        return len(data)

    def recv(self, size: int) -> bytes:
        if self._is_reset:
            raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        if not self._received:
            if self._has_ended:
                return b""
            raise BlockingIOError
        data = bytes(self._received[:size])
        del self._received[:size]
        self.peer.was_read(len(data))
        return data

    def sendmsg(self, buffers, ancillary=(), flags: int = 0) -> int:
        if self._is_reset or self.is_closed:
            raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        room = _BUFFER_BYTES - self._unread
        if room <= 0:
            raise BlockingIOError
        data = b"".join(buffers)[:room]
        self._unread += len(data)
        for piece in _split(data, self.machine.random):
            self.outgoing.send(partial(self.peer.arrive, piece))
        return len(data)

    def close(self) -> None:
        if self.is_closed:
            return
        self._end()
        if self.peer is not None:
            self.outgoing.send(self.peer.on_reset if self._received else self.peer.on_end)

    # -- what happens to it

    def begin(self, outgoing: Lane, peer_name: tuple[str, int], port: int) -> None:
        self.outgoing = outgoing
        self._peer_name = peer_name
        self.port = port

    def arrive(self, data: bytes) -> None:
        if self.is_closed:
            self.outgoing.send(self.peer.on_reset)
            return
        self._received += data
        self.wake()

    def was_read(self, count: int) -> None:
        self._unread -= count
        if self.loop.waits_to_write(self._fd):
            self.wake()

    def on_end(self) -> None:
        self._has_ended = True
        self.wake()

    def on_reset(self) -> None:
        self._is_reset = True
        self.wake()

    def break_off(self, random: Random) -> None:
        """Its process was killed, or something on the way has forgotten the connection: a part of what is under way
        arrives, then the peer is told.
        """
        if self.peer is None:
            return
        keep = random.randint(0, len(self.outgoing))
        is_whole = keep == len(self.outgoing)
        self.outgoing.lose(keep)
        self.outgoing.send(self.peer.on_end if is_whole and random.random() < 0.5 else self.peer.on_reset)

    def abandon(self, random: Random) -> None:
        """Its process was killed."""
        if not self.is_closed:
            self._end()
            self.break_off(random)

    def vanish(self) -> None:
        """Its machine lost power."""
        if not self.is_closed:
            self._end()
            if self.outgoing is not None:
                self.outgoing.lose()

    def _end(self) -> None:
        self.loop.disown(self)
        self.is_closed = True
        if self.machine.listening.get(self.port) is self:
            del self.machine.listening[self.port]
        for served in self.backlog:
            served.close()

    # -- readiness

    @property
    def is_connected(self) -> bool:
        return self.peer is not None and not self.is_closed

    def is_readable(self) -> bool:
        return bool(self._received or self.backlog or self._has_ended or self._is_reset)

    def is_writable(self) -> bool:
        return self._is_reset or (self.peer is not None and self._unread < _BUFFER_BYTES)

    def wake(self) -> None:
        """Have the process look soon, once for all that has happened by then."""
        if not self._is_awake and not self.is_closed:
            self._is_awake = True
            self.loop.call_soon(self._look)

    def _look(self) -> None:
        self._is_awake = False
        if not self.is_closed:
            self.loop.poll(self)


def _split(data: bytes, random: Random) -> list[bytes]:
    if len(data) < 2 or random.random() >= _SPLIT_SHARE:
        return [data]
    at = random.randrange(1, len(data))
    return [data[:at], data[at:]]
