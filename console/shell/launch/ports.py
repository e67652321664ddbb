"""Which ports a start needs, and the sentence about one that is taken: it names the setting to change."""

import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import psutil

from console.processes.embedded import SECOND
from console.processes.setup import Setup

#: ZooKeeper's quorum and election ports, as far above the client port as customary (2888 and 3888 above 2181).
ZOOKEEPER_PORT_DISTANCES = (0, 707, 1707)


@dataclass(frozen=True)
class NeededPort:
    """`owner` is the managed process that will listen there, empty for the console itself."""

    port: int
    owner: str
    purpose: str
    setting: str


def needed_ports(setup: Setup, console_port: int) -> list[NeededPort]:
    needed = [NeededPort(console_port, "", "the console", "BARNABAS_CONSOLE_PORT")]
    if setup.zookeeper_port is not None:
        needed += [
            NeededPort(setup.zookeeper_port + distance, "zookeeper", "ZooKeeper", "BARNABAS_ZOOKEEPER_PORT")
            for distance in ZOOKEEPER_PORT_DISTANCES
        ]
    beside = (
        (setup.connect_port, "connect", "the Connect worker", "BARNABAS_CONNECT_PORT"),
        (setup.registry_port, "schema-registry", "the schema registry", "BARNABAS_REGISTRY_PORT"),
    )
    needed += [NeededPort(port, *rest) for port, *rest in beside if port is not None]
    if setup.has_probe:
        purpose, setting = "the probe", "BARNABAS_BROKER_PORT (99 below it)"
        needed.append(NeededPort(setup.probe_port, "probe", purpose, setting))
    if setup.has_mirror:
        purpose, setting = "the second cluster", "BARNABAS_BROKER_PORT (200 below it)"
        needed.append(NeededPort(setup.second_port, SECOND, purpose, setting))
    brokers = range(1, setup.broker_count + 1)
    setting = f"BARNABAS_BROKER_PORT (the first of {setup.broker_count})"
    for number in brokers:
        owner = f"broker-{number}"
        needed.append(NeededPort(setup.port_of_broker(number), owner, f"broker {number}", setting))
        metrics = setup.metrics_port_of_broker(number)
        needed.append(NeededPort(metrics, owner, f"the metrics of broker {number}", setting))
    return needed


def port_complaints(needed: Iterable[NeededPort], running: frozenset[str]) -> list[str]:
    """Return a sentence for each setting with a port that is in use, about the first such port.

    What already runs from an earlier start may keep its ports.
    """
    needed = [port for port in needed if port.owner not in running]
    clashes = [
        f"Port {port.port} is meant for {port.purpose} and for {other.purpose}: change {port.setting}."
        for index, port in enumerate(needed)
        for other in needed[:index]
        if port.port == other.port
    ]
    taken: dict[str, NeededPort] = {}
    for port in needed:
        if port.setting not in taken and not is_free(port.port):
            taken[port.setting] = port
    return clashes + [taken_sentence(port, holder_of(port.port)) for port in taken.values()]


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def taken_sentence(needed: NeededPort, holder: str) -> str:
    return (
        f"Port {needed.port}, needed by {needed.purpose}, is taken by {holder or 'another program'}: "
        f"stop that, or set {needed.setting} to another port."
    )


def holder_of(port: int) -> str:
    """Return which process listens on `port`, as far as this user may know; else empty."""
    try:
        listening: Mapping[int, int | None] = {
            connection.laddr.port: connection.pid
            for connection in psutil.net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN and connection.laddr
        }
        pid = listening.get(port)
        return f"{psutil.Process(pid).name()} (pid {pid})" if pid else ""
    except psutil.Error:
        return ""
