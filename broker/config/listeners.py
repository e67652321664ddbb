"""Where a broker listens, what it tells of it, how each listener is protected; what of it cannot be (KIP-103, KIP-291).

A name is compared in capitals, as Kafka does.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple

from broker.common.security_protocol import SecurityProtocol
from broker.config.definition import ConfigError, accepting, parse_list, setting


class ListenerEndpoint(NamedTuple):
    """One listener: name, host and port. An empty host is all interfaces, port 0 asks the system for a free one."""

    listener: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


_ENDPOINT = re.compile(r"(?P<listener>[A-Za-z0-9_-]+)://(?P<host>\[[0-9A-Fa-f:.]+\]|[^:/\[\]]*):(?P<port>\d{1,5})")
#: Hosts that stand for every address of the machine, so that nobody elsewhere can reach one by them.
_EVERYWHERE = ("", "0.0.0.0", "::")


@accepting("NAME://host:port,…")
def parse_endpoints(text: str) -> tuple[ListenerEndpoint, ...]:
    parts = parse_list(text)
    matches = [match for part in parts if (match := _ENDPOINT.fullmatch(part))]
    if not matches or len(matches) < len(parts) or any(int(match["port"]) > 65_535 for match in matches):
        raise ValueError(text)
    return tuple(ListenerEndpoint(m["listener"].upper(), m["host"].strip("[]"), int(m["port"])) for m in matches)


@accepting("one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL")
def parse_protocol(text: str) -> SecurityProtocol:
    try:
        return SecurityProtocol[text.strip().upper()]
    except KeyError:
        raise ValueError(text) from None


class NamedProtocol(NamedTuple):
    """One entry of listener.security.protocol.map."""

    listener: str
    protocol: SecurityProtocol

    def __str__(self) -> str:
        return f"{self.listener}:{self.protocol}"


@accepting("NAME:PROTOCOL,… with a protocol of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL")
def parse_protocol_map(text: str) -> tuple[NamedProtocol, ...]:
    entries = [part.rpartition(":") for part in parse_list(text)]
    if not all(name for name, _, _ in entries):
        raise ValueError(text)
    return tuple(NamedProtocol(name.strip().upper(), parse_protocol(protocol)) for name, _, protocol in entries)


@accepting("the name of a listener")
def parse_listener_name(text: str) -> str:
    return text.upper()


class ListenerAddresses:
    """The broker's settings that name its listeners and their addresses, by attribute."""

    listeners = setting(
        parse_endpoints,
        (ListenerEndpoint("PLAINTEXT", "127.0.0.1", 9092),),
        "Addresses the broker listens on, NAME://host:port, comma separated.",
    )
    advertised_listeners = setting(parse_endpoints, None, "Addresses for clients; default: the listeners.")
    listener_security_protocol_map = setting(
        parse_protocol_map,
        tuple(NamedProtocol(protocol.name, protocol) for protocol in SecurityProtocol),
        "How each listener is protected, NAME:PROTOCOL, comma separated.",
    )
    inter_broker_listener_name = setting(
        parse_listener_name,
        None,
        "Listener brokers reach each other by; default: that of security.inter.broker.protocol.",
    )
    security_inter_broker_protocol = setting(
        parse_protocol,
        SecurityProtocol.PLAINTEXT,
        "Brokers reach each other by the listener of this name; inter.broker.listener.name says another.",
    )
    sasl_mechanism_inter_broker_protocol = setting(
        str,
        "GSSAPI",
        "Accepted as Kafka does, without effect here: brokers know each other by a secret made with the cluster.",
        has_effect=False,
    )
    control_plane_listener_name = setting(
        parse_listener_name, None, "Listener the controller reaches brokers by; default: that of all brokers."
    )


def inter_broker_listener(values: Mapping[str, Any]) -> str:
    """Return the inter-broker listener's name. `values` by attribute, here and below."""
    return str(values["inter_broker_listener_name"] or values["security_inter_broker_protocol"])


def protocol_of(listener: str, values: Mapping[str, Any]) -> SecurityProtocol:
    """KeyError for a listener that nothing is said of."""
    protocols: dict[str, SecurityProtocol] = dict(values["listener_security_protocol_map"])
    return protocols[listener]


def check_listeners(values: Mapping[str, Any], given: Iterable[str]) -> None:
    """ConfigError with one sentence if a broker could not listen so; `given` are the keys that were set."""
    listeners, advertised = values["listeners"], values["advertised_listeners"]
    _check_names("listeners", listeners)
    _check_ports(listeners)
    _check_names("advertised.listeners", advertised or ())
    _check_advertised(listeners, advertised)
    _check_protocols(listeners, values)
    _check_between_brokers(advertised or listeners, values, set(given))


def _check_names(key: str, endpoints: Iterable[ListenerEndpoint]) -> None:
    for name, count in Counter(endpoint.listener for endpoint in endpoints).items():
        if count > 1:
            raise ConfigError(f"{key} names {name} {count} times: give each listener a name of its own")


def _check_ports(listeners: Iterable[ListenerEndpoint]) -> None:
    """Check that listeners do not share a port; one may serve IPv4 by one listener and IPv6 by another, if both have an
    address (KAFKA-13299).
    """
    hosts: dict[int, list[str]] = {}
    for listener in listeners:
        hosts.setdefault(listener.port, []).append(listener.host)
    for port, of_port in hosts.items():
        if port and len(of_port) > 1 and sorted(map(_ip_version, of_port)) != [4, 6]:
            raise ConfigError(
                f"listeners has port {port} {len(of_port)} times: "
                "give each listener a port of its own, or one an IPv4 address and the other an IPv6 address"
            )


def _ip_version(host: str) -> int:
    try:
        address: IPv4Address | IPv6Address = ip_address(host)
    except ValueError:
        return 0
    return address.version


def _check_advertised(listeners: tuple[ListenerEndpoint, ...], advertised: tuple[ListenerEndpoint, ...] | None) -> None:
    for endpoint in advertised or ():
        if endpoint.host in _EVERYWHERE:
            raise ConfigError(f"advertised.listeners={endpoint} must name a host that clients can reach")
        if endpoint.listener not in {listener.listener for listener in listeners}:
            raise ConfigError(f"advertised.listeners={endpoint}: add a listener {endpoint.listener} to listeners")
    for endpoint in () if advertised else listeners:
        if endpoint.host in _EVERYWHERE:
            raise ConfigError(f"listeners={endpoint} listens everywhere: set advertised.listeners to a reachable host")


def _check_protocols(listeners: Iterable[ListenerEndpoint], values: Mapping[str, Any]) -> None:
    known = dict(values["listener_security_protocol_map"])
    for listener in listeners:
        if listener.listener not in known:
            raise ConfigError(
                f"no security protocol is defined for listener {listener.listener}: "
                f"add {listener.listener}:PLAINTEXT, or another protocol, to listener.security.protocol.map"
            )


def _check_between_brokers(advertised: Iterable[ListenerEndpoint], values: Mapping[str, Any], given: set[str]) -> None:
    if {"inter.broker.listener.name", "security.inter.broker.protocol"} <= given:
        raise ConfigError(
            "inter.broker.listener.name and security.inter.broker.protocol are both set: remove one of them"
        )
    names = [endpoint.listener for endpoint in advertised]
    between_brokers, of_controller = inter_broker_listener(values), values["control_plane_listener_name"]
    if between_brokers not in names:
        raise ConfigError(
            f"brokers shall reach each other by the listener {between_brokers}, which is not advertised: "
            f"set inter.broker.listener.name to one of {', '.join(names)}"
        )
    if of_controller is not None and of_controller not in names:
        raise ConfigError(
            f"control.plane.listener.name={of_controller} is not advertised: name one of {', '.join(names)}"
        )
    if of_controller == between_brokers:
        raise ConfigError(
            f"control.plane.listener.name={of_controller} is the listener of all brokers: "
            "name another, or leave the key out"
        )
