"""What holds for the sockets of all listeners: sizes, silence, how many of one address; and where metrics are told."""

from ipaddress import ip_address
from typing import NamedTuple

from broker.common.limits import HELD_REQUEST_BYTES_MAX
from broker.config.definition import parse_boolean, parse_int, parse_int32, parse_list, setting


class HostPort(NamedTuple):
    """One address; an empty host is none."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}" if self.host else ""


def parse_host_port(text: str) -> HostPort:
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdigit() or int(port) > 65_535:
        raise ValueError(text)
    return HostPort(host.strip("[]"), int(port))


class HostLimit(NamedTuple):
    """How many connections one address may have."""

    address: str
    connections: int

    def __str__(self) -> str:
        return f"{self.address}:{self.connections}"


def parse_host_limits(text: str) -> tuple[HostLimit, ...]:
    limits = []
    for part in parse_list(text):
        address, _, count = part.rpartition(":")
        limits.append(HostLimit(str(ip_address(address.strip("[]"))), parse_int32(count)))
    if any(limit.connections < 0 for limit in limits):
        raise ValueError(text)
    return tuple(limits)


class NetworkSettings:
    """Values by attribute, as in `BrokerSettings`."""

    socket_request_max_bytes = setting(parse_int32, 104_857_600, "Largest request accepted.", at_least=1)
    queued_max_request_bytes = setting(
        parse_int,
        HELD_REQUEST_BYTES_MAX,
        "Half-received requests of all connections.",
        at_least=1,
    )
    socket_send_buffer_bytes = setting(
        parse_int32,
        102_400,
        "The kernel's buffer for what a client has not read yet; -1: the system's choice.",
        at_least=-1,
    )
    socket_receive_buffer_bytes = setting(
        parse_int32,
        -1,
        "The kernel's buffer for what the broker has not read yet; -1: the system's choice.",
        at_least=-1,
    )
    max_connections_per_ip = setting(parse_int32, 1_000, "Connections from one address at a time.", at_least=0)
    max_connections_per_ip_overrides = setting(parse_host_limits, (), "The same for single addresses: address:count,…")
    connections_max_idle_ms = setting(parse_int, 600_000, "Silence after which a connection is closed.", at_least=1)
    metrics_listener = setting(
        parse_host_port, HostPort("", 0), "host:port of /metrics and /healthz; unset: not served."
    )
    metrics_allowed_hosts = setting(
        parse_list, (), "Further host names that requests may use; * is all. Addresses and configured names always may."
    )
    metrics_names_enable = setting(
        parse_boolean,
        None,
        "Whether /metrics, which asks for no login, names topics and principals; unset: unless there is an authorizer.",
    )
