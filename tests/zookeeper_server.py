"""A real ZooKeeper for tests, started by the product's own command: `with running_zookeeper(directory) as server:`."""

import contextlib
import functools
import itertools
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from broker.zookeeper.ensemble import ServerAddress, prepare_server
from tests.place import HERE, Place
from tests.warm_start import WarmProcess, start, started

_START_DEADLINE_S = 40
_STOP_DEADLINE_S = 10
#: Where free ports are looked for; outgoing connections are given ports above.
_PORTS = (10_000, 32_000)
_BLOCK = 200
#: Of the blocks of this process, so that no collector of garbage closes them.
_holders: list[socket.socket] = []


@dataclass
class ZooKeeperServer:
    """A server process and where it listens."""

    process: subprocess.Popen | WarmProcess
    port: int
    directory: Path
    place: Place = HERE
    chroot: str = ""

    @property
    def connect(self) -> str:
        """What goes into `zookeeper.connect`."""
        return f"{self.place.address}:{self.port}{self.chroot}"

    def log(self) -> str:
        return (self.directory / "test.log").read_text()

    def suspend(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self.process.poll() is not None:
            return
        self.resume()
        self.process.terminate()
        try:
            self.process.wait(_STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def running_zookeeper(
    directory: Path,
    ports: tuple[int, int, int] | None = None,
    super_password_file: Path | None = None,
    place: Place = HERE,
) -> Iterator[ZooKeeperServer]:
    """Yields a server that answers; stops it at the end. `ports` are client, quorum, election; free ones by default.

    With the file of a super password it gets quotas, as in `make up`: soon after it answers.
    """
    server = start_zookeeper(directory, ports, super_password_file, place)
    try:
        await_zookeeper(server)
        yield server
    finally:
        server.stop()


@dataclass
class ZooKeeperEnsemble:
    """Several servers that agree by majority."""

    servers: list[ZooKeeperServer]

    @property
    def connect(self) -> str:
        return ",".join(server.connect for server in self.servers)

    def leader(self) -> ZooKeeperServer | None:
        """The server that leads at the moment, None while none does."""
        leads = (server for server in self.servers if "Mode: leader" in four_letter_word(server.port, b"srvr"))
        return next(leads, None)


@contextlib.contextmanager
def running_ensemble(directory: Path, count: int) -> Iterator[ZooKeeperEnsemble]:
    """Yields `count` servers that have elected a leader; stops them at the end."""
    with contextlib.ExitStack() as stack:
        servers = []
        for number, address in enumerate(prepare_ensemble(directory, count), 1):
            server = start_zookeeper(directory / str(number), address.ports, number=number)
            stack.callback(server.stop)
            servers.append(server)
        for server in servers:
            await_zookeeper(server)
        yield ZooKeeperEnsemble(servers)


def prepare_ensemble(directory: Path, count: int) -> list[ServerAddress]:
    """The files of `count` servers in `directory`/1 and so on, on free ports; where each of them will listen."""
    ports = free_ports(3 * count)
    addresses = [ServerAddress("127.0.0.1", *ports[3 * index : 3 * index + 3]) for index in range(count)]
    lines = "".join(f"server.{number}={address}\n" for number, address in enumerate(addresses, 1))
    for number in range(1, count + 1):
        home = directory / str(number)
        (home / "data").mkdir(parents=True)
        (home / "data" / "myid").write_text(f"{number}\n")
        (home / "zoo.cfg").write_text(_zoo_cfg() + lines)
    return addresses


def _zoo_cfg() -> str:
    """What the product writes for a server of its own, without that server."""
    with tempfile.TemporaryDirectory() as directory:
        prepare_server(Path(directory), "127.0.0.1", 2181)
        lines = (Path(directory) / "zoo.cfg").read_text().splitlines()
    return "".join(f"{line}\n" for line in lines if not line.startswith("server."))


def start_zookeeper(
    directory: Path,
    ports: tuple[int, int, int] | None = None,
    super_password_file: Path | None = None,
    place: Place = HERE,
    number: int = 1,
) -> ZooKeeperServer:
    client, quorum, election = ports or free_ports(3)
    directory.mkdir(parents=True, exist_ok=True)
    command = ["zookeeper", str(directory), "--client-port", str(client), "--host", place.address]
    command += ["--number", str(number), "--quorum-port", str(quorum), "--election-port", str(election)]
    with (directory / "test.log").open("ab") as log:
        if place == HERE and super_password_file is None:
            process = started(command, log)
        else:
            # A guard is left behind, which is known by its command line.
            guarded = ("--super-password-file", str(super_password_file)) if super_password_file else ()
            process = start([*place.enter, sys.executable, "-m", "broker", *command, *guarded], log)
    return ZooKeeperServer(process, client, directory, place)


def await_zookeeper(server: ZooKeeperServer) -> None:
    """Returns when the server leads its quorum and serves clients."""
    deadline = time.monotonic() + _START_DEADLINE_S
    while "Mode:" not in four_letter_word(server.port, b"srvr", server.place.address):
        if server.process.poll() is not None:
            raise AssertionError(f"ZooKeeper ended with {server.process.returncode}:\n{server.log()}")
        if time.monotonic() > deadline:
            raise AssertionError(f"ZooKeeper did not answer within {_START_DEADLINE_S} s:\n{server.log()}")
        time.sleep(0.03)


def four_letter_word(port: int, word: bytes, host: str = HERE.address) -> str:
    """What the server answers to `word`; nothing when it is not there."""
    try:
        with socket.create_connection((host, port), timeout=2) as connection:
            connection.sendall(word)
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
            return answer.decode()
    except OSError:
        return ""


def free_ports(count: int) -> list[int]:
    """Distinct ports that nothing listens on, outside of the range that the kernel takes for outgoing connections.

    Each process draws from a block of its own: what two of them draw at random, a bind a moment later may find taken.
    """
    block = _block_of(os.getpid())
    ports: list[int] = []
    while len(ports) < count:
        port = next(block)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if port not in ports:
                ports.append(port)
    return ports


@functools.cache
def _block_of(_pid: int) -> Iterator[int]:
    """The ports of a free block, over and over; a UDP socket on its first port holds it until the process ends."""
    for first in random.SystemRandom().sample(range(*_PORTS, _BLOCK), len(range(*_PORTS, _BLOCK))):
        holder = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            holder.bind(("127.0.0.1", first))
        except OSError:
            holder.close()
            continue
        _holders.append(holder)
        return itertools.cycle(range(first + 1, first + _BLOCK))
    raise AssertionError(f"All {len(range(*_PORTS, _BLOCK))} blocks of {_BLOCK} ports are held by other test processes")
