"""What each ZooKeeper server says of itself, by its four-letter word `mntr` over a plain TCP connection."""

import socket
import time
from dataclasses import dataclass

TIMEOUT_SECONDS = 1.0
#: mntr answers about 17 KB; more than this is not ZooKeeper.
ANSWER_BYTES_MAX = 256 * 1024


@dataclass(frozen=True, slots=True)
class ZooKeeperView:
    """One server. `mode` is leader, follower, standalone or observer; empty with an `error`."""

    address: str
    mode: str = ""
    version: str = ""
    znode_count: int | None = None
    connection_count: int | None = None
    latency_ms: float | None = None
    error: str = ""


def parse_addresses(connect_string: str) -> list[tuple[str, int]]:
    """`host:port,host:port/chroot` → [(host, port)]; the port is 2181 if not given, an IPv6 host stands in brackets."""
    servers = connect_string.split("/", 1)[0]
    return [_parse_address(server.strip()) for server in servers.split(",") if server.strip()]


def _parse_address(server: str) -> tuple[str, int]:
    host, colon, port = server.rpartition(":")
    if not colon or server.endswith("]"):
        return server.strip("[]"), 2181
    return host.strip("[]"), int(port)


def describe_zookeeper(connect_string: str, timeout_seconds: float = TIMEOUT_SECONDS) -> list[ZooKeeperView]:
    """Ask every server of the connect string; one that does not answer comes back with its error. Never raises."""
    return [_describe_server(host, port, timeout_seconds) for host, port in parse_addresses(connect_string)]


def _describe_server(host: str, port: int, timeout_seconds: float) -> ZooKeeperView:
    address = f"{host}:{port}"
    try:
        return parse_mntr(address, ask(host, port, b"mntr", timeout_seconds))
    except ConnectionRefusedError:
        return ZooKeeperView(address, error="refuses connections")
    except TimeoutError:
        return ZooKeeperView(address, error="does not answer")
    except OSError as error:
        return ZooKeeperView(address, error=error.strerror or str(error))


def ask(host: str, port: int, word: bytes, timeout_seconds: float) -> str:
    """Send a four-letter word and read the answer until the server closes; TimeoutError after `timeout_seconds`."""
    deadline = time.monotonic() + timeout_seconds
    with socket.create_connection((host, port), timeout=timeout_seconds) as connection:
        connection.sendall(word)
        answer = bytearray()
        while chunk := connection.recv(65536):
            answer += chunk
            if len(answer) > ANSWER_BYTES_MAX:
                raise OSError("answers too much to be ZooKeeper")
            if time.monotonic() > deadline:
                raise TimeoutError
    return answer.decode("utf-8", "replace")


def parse_mntr(address: str, answer: str) -> ZooKeeperView:
    facts = dict(line.split("\t", 1) for line in answer.splitlines() if "\t" in line)
    if "zk_server_state" not in facts:
        return ZooKeeperView(address, error=_complaint(answer))
    return ZooKeeperView(
        address=address,
        mode=facts["zk_server_state"],
        version=facts.get("zk_version", "").split("-", 1)[0],
        znode_count=_number(facts.get("zk_znode_count"), int),
        connection_count=_number(facts.get("zk_num_alive_connections"), int),
        latency_ms=_number(facts.get("zk_avg_latency"), float),
    )


def _complaint(answer: str) -> str:
    if "not currently serving" in answer:
        return "has no quorum"
    if "not in the whitelist" in answer:
        return "does not allow the word mntr (4lw.commands.whitelist)"
    return "answers, but not as ZooKeeper"


def _number(text: str | None, kind: type):
    try:
        return kind(text) if text is not None else None
    except ValueError:
        return None
