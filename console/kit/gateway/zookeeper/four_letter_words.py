"""What each ZooKeeper server says of itself, by its four-letter words `mntr` and `srvr` over a plain TCP connection."""

import socket
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from console.kit.common.outbound import AddressRefusedError, checked_addresses, connect_to_first
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.interface import EnsembleConfig, ZooKeeperGateway

TIMEOUT_SECONDS = 1.0
#: mntr answers about 17 KB; more than this is not ZooKeeper.
ANSWER_BYTES_MAX = 256 * 1024
#: Servers asked at one time; an ensemble has hardly more.
ASKED_AT_ONCE = 9
#: How often the ensemble is asked who its members are.
CONFIG_EVERY_SECONDS = 5.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ZooKeeperView:
    """One server. `mode` is leader, follower, standalone or observer; empty with an `error`.

    `number` is its N of `server.N`, None where nobody said; `role` is what the ensemble means it to be.
    """

    address: str
    mode: str = ""
    version: str = ""
    znode_count: int | None = None
    connection_count: int | None = None
    latency_ms: float | None = None
    error: str = ""
    number: int | None = None
    role: str = ""
    #: What the server is doing in its mode, such as "following - broadcast".
    state: str = ""
    latency_min_ms: float | None = None
    latency_max_ms: float | None = None
    outstanding_count: int | None = None
    watch_count: int | None = None
    ephemeral_count: int | None = None
    data_bytes: int | None = None
    #: Followers in sync, of the leader.
    synced_count: int | None = None
    zxid: str = ""
    started_at_ms: int | None = None


def parse_addresses(connect_string: str) -> list[tuple[str, int]]:
    """Parse `host:port,host:port/chroot` → [(host, port)]; the port is 2181 if not given, an IPv6 host stands in
    brackets.
    """
    servers = connect_string.split("/", 1)[0]
    return [_parse_address(server.strip()) for server in servers.split(",") if server.strip()]


def _parse_address(server: str) -> tuple[str, int]:
    host, colon, port = server.rpartition(":")
    if not colon or server.endswith("]"):
        return server.strip("[]"), 2181
    return host.strip("[]"), int(port)


def describe_zookeeper(connect_string: str, timeout_seconds: float = TIMEOUT_SECONDS) -> list[ZooKeeperView]:
    """Ask every server of the connect string; one that does not answer comes back with its error. Never raises."""
    return describe_servers(parse_addresses(connect_string), timeout_seconds)


def describe_servers(
    addresses: Iterable[tuple[str, int]], timeout_seconds: float = TIMEOUT_SECONDS
) -> list[ZooKeeperView]:
    """Describe all servers at once, in order: silent ones together cost one timeout."""
    addresses = list(addresses)
    if len(addresses) < 2:
        return [_describe_server(host, port, timeout_seconds) for host, port in addresses]
    with ThreadPoolExecutor(min(len(addresses), ASKED_AT_ONCE)) as threads:
        return list(threads.map(lambda address: _describe_server(address[0], address[1], timeout_seconds), addresses))


class EnsembleLook:
    """Asks every member there is now, also those that joined since the connect string was written.

    While the ensemble cannot say who they are (no quorum), the members it named last are asked.
    """

    def __init__(
        self,
        gateway: ZooKeeperGateway,
        connect_string: str,
        clock_s: Callable[[], float] = time.monotonic,
    ):
        self._gateway = gateway
        self._connect_string = connect_string
        self._clock_s = clock_s
        self._config = EnsembleConfig(0, ())
        self._asked_at_s: float | None = None

    def __call__(self) -> list[ZooKeeperView]:
        self._ask_for_members()
        members = self._config.members
        addresses = [(member.client_host, member.client_port) for member in members if member.client_port]
        if members and len(addresses) == len(members):
            views = describe_servers(addresses)
            if any(not view.error for view in views):
                named = zip(views, members, strict=True)
                return [replace(view, number=item.number, role=item.role) for view, item in named]
        return describe_zookeeper(self._connect_string)

    def _ask_for_members(self) -> None:
        now_s = self._clock_s()
        if self._asked_at_s is not None and now_s - self._asked_at_s < CONFIG_EVERY_SECONDS:
            return
        self._asked_at_s = now_s
        try:
            self._config = self._gateway.ensemble()
        except GatewayError:
            return


def _describe_server(host: str, port: int, timeout_seconds: float) -> ZooKeeperView:
    address = f"{host}:{port}"
    try:
        view = parse_mntr(address, ask(host, port, b"mntr", timeout_seconds), time.time())
        return view if view.error else replace(view, zxid=parse_zxid(ask(host, port, b"srvr", timeout_seconds)))
    except ConnectionRefusedError:
        return ZooKeeperView(address, error="refuses connections")
    except TimeoutError:
        return ZooKeeperView(address, error="does not answer")
    except AddressRefusedError as error:
        return ZooKeeperView(address, error=str(error).rstrip("."))
    except OSError as error:
        return ZooKeeperView(address, error=error.strerror or str(error))


def ask(host: str, port: int, word: bytes, timeout_seconds: float) -> str:
    """Send a four-letter word and read the answer until the server closes; TimeoutError after `timeout_seconds`.

    Raises AddressRefusedError where no ZooKeeper is: the address may have been typed on the page of a cluster.
    """
    deadline = time.monotonic() + timeout_seconds
    with connect_to_first(
        checked_addresses(host, port), lambda address: socket.create_connection((address, port), timeout_seconds)
    ) as connection:
        connection.sendall(word)
        answer = bytearray()
        while chunk := connection.recv(65536):
            answer += chunk
            if len(answer) > ANSWER_BYTES_MAX:
                raise OSError("answers too much to be ZooKeeper")
            if time.monotonic() > deadline:
                raise TimeoutError
    return answer.decode("utf-8", "replace")


def parse_mntr(address: str, answer: str, now_s: float) -> ZooKeeperView:
    facts = dict(line.split("\t", 1) for line in answer.splitlines() if "\t" in line)
    if "zk_server_state" not in facts:
        return ZooKeeperView(address, error=_complaint(answer))
    uptime_ms = _number(facts.get("zk_uptime"), int)
    return ZooKeeperView(
        address=address,
        mode=facts["zk_server_state"],
        version=facts.get("zk_version", "").split("-", 1)[0],
        znode_count=_number(facts.get("zk_znode_count"), int),
        connection_count=_number(facts.get("zk_num_alive_connections"), int),
        latency_ms=_number(facts.get("zk_avg_latency"), float),
        state=facts.get("zk_peer_state", ""),
        latency_min_ms=_number(facts.get("zk_min_latency"), float),
        latency_max_ms=_number(facts.get("zk_max_latency"), float),
        outstanding_count=_number(facts.get("zk_outstanding_requests"), int),
        watch_count=_number(facts.get("zk_watch_count"), int),
        ephemeral_count=_number(facts.get("zk_ephemerals_count"), int),
        data_bytes=_number(facts.get("zk_approximate_data_size"), int),
        synced_count=_number(facts.get("zk_synced_followers"), int),
        # Whole seconds: the moment stays the same from one look to the next.
        started_at_ms=round(now_s - uptime_ms / 1000) * 1000 if uptime_ms is not None else None,
    )


def parse_zxid(srvr: str) -> str:
    """Return the newest change the server has, as ZooKeeper writes it (0x… the epoch of its leader, then a counter)."""
    return next((line.partition(":")[2].strip() for line in srvr.splitlines() if line.startswith("Zxid:")), "")


def _complaint(answer: str) -> str:
    if "not currently serving" in answer:
        return "has no quorum"
    if "not in the whitelist" in answer:
        return "does not allow the word mntr (4lw.commands.whitelist)"
    return "answers, but not as ZooKeeper"


def _number(text: str | None, kind: Callable[[str], T]) -> T | None:
    try:
        return kind(text) if text is not None else None
    except ValueError:
        return None
