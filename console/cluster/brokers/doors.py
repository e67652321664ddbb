"""Settings of brokers by which somebody gets in, or cannot be kept out: listeners, logins, limits of connections. Pure.

They may open a listener without a login on a secured cluster, so they are for administrators, with a typed name. Names
are Kafka's, for any Kafka: what this broker does not let change while it runs, another one may.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping

_OPENING = re.compile(
    r"(?:early\.start\.)?listener(?:s$|\.)|advertised\.|(?:max\.)?connections?\.|max\.connections$|ssl\.|sasl\.|security\."
    r"|inter\.broker\.listener|control\.plane\.|controller\.listener|authorizer\.|super\.users$|allow\.everyone\."
    r"|principal\.builder\.|password\.encoder\.|delegation\.token\.|zookeeper\.|metric\.reporters$"
    r"|.*\.(?:class|classes|class\.name|jaas\.config)$"
)
_ENDPOINT = re.compile(r"\s*(?P<name>[A-Za-z0-9_.-]+)://(?P<host>\[[^\]]*\]|[^:/]*):\d+\s*")
_LOCAL_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})
#: Protocol → what its clients are spared.
_WITHOUT = {
    "PLAINTEXT": "no login and no encryption",
    "SASL_PLAINTEXT": "no encryption, so passwords and records can be read on the way",
    "SSL": "no login but a certificate, where ssl.client.auth asks for one",
}
_LISTENERS = "Clients and brokers that use a listener which is left out, or moved, are cut off."
_ADVERTISED = (
    "Clients and brokers connect to these addresses, and log in there: a wrong one leads them to another server."
)
_PROTOCOLS = "A listener of another protocol asks its clients for another login, or for none."
_CONNECTIONS = "A low limit keeps clients and brokers out; a high one lets one client take every connection there is."
_OTHERS = "It decides about authentication: a wrong value admits other clients, or refuses known clients and brokers."


def opens_a_door(setting: str) -> bool:
    return _OPENING.match(setting) is not None


def losses_of(setting: str, value: str, protocols: Mapping[str, str]) -> tuple[str, ...]:
    """Return the sentences on what setting the value costs; none for a setting without access control.

    `protocols`: by the name of a listener, as listener.security.protocol.map of the broker says.
    """
    if not opens_a_door(setting):
        return ()
    if setting in ("listeners", "advertised.listeners"):
        general = _LISTENERS if setting == "listeners" else _ADVERTISED
        return (*_losses_of_endpoints(value, protocols), general)
    if setting == "listener.security.protocol.map":
        weaker = (
            f"Listener {name} asks its clients for {_WITHOUT[protocol]}."
            for name, protocol in parse_protocols(value).items()
            if protocol in _WITHOUT
        )
        return (*weaker, _PROTOCOLS)
    return (_CONNECTIONS,) if "connection" in setting and setting.startswith(("max.", "listener.")) else (_OTHERS,)


def parse_protocols(text: str) -> dict[str, str]:
    """Parse `NAME:PROTOCOL,…` by name, in capitals; malformed items are left out."""
    pairs = ([part.strip() for part in name.upper().split(":")] for name in text.split(","))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _losses_of_endpoints(value: str, protocols: Mapping[str, str]) -> Iterator[str]:
    for endpoint in _endpoints(value):
        name, host = endpoint["name"].upper(), endpoint["host"].strip("[]")
        protocol = protocols.get(name, name)
        if protocol in _WITHOUT:
            yield f"{endpoint[0].strip()} asks its clients for {_WITHOUT[protocol]}."
        if not _is_local(host):
            yield f"{endpoint[0].strip()} is reached from other machines: it is not on 127.0.0.1."


def _endpoints(value: str) -> Iterable[re.Match[str]]:
    matches = (_ENDPOINT.fullmatch(part) for part in value.split(","))
    return [item for item in matches if item is not None]


def _is_local(host: str) -> bool:
    """Return whether the host is this machine; an empty one is every address it has."""
    if host.lower() in _LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
