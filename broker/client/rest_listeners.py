"""Where a daemon's REST listens, by http or https, and by which of them others of its group reach it."""

import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from broker.client.security.properties import ClientTlsSettings, read_security
from broker.client.security.tls import client_context, server_context
from broker.common.errors import StartupError

SCHEMES = ("http", "https")


class RestListener(NamedTuple):
    scheme: str
    host: str
    port: int

    @property
    def reached_at(self) -> str:
        """The host others would ask for, if none is named."""
        return "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host


def read_listeners(
    listeners: tuple[str, ...], port: int, key: str = "listeners", host: str = "0.0.0.0"
) -> tuple[RestListener, ...]:
    """Parse the listeners; `port` and `host` where none is named. Raises StartupError."""
    try:
        addresses = [urlsplit(item) for item in listeners]
        made = tuple(
            RestListener(result.scheme, result.hostname or host, port if result.port is None else result.port)
            for result in addresses
        )
    except ValueError:
        made = ()
    if not made or any(listener.scheme not in SCHEMES for listener in made):
        raise StartupError(
            f"{key}={','.join(listeners)} must be http://host:port or https://host:port, one or several."
        )
    return made


def reached_by_others(listeners: tuple[RestListener, ...], scheme: str, key: str) -> RestListener:
    """Return the one that others of the group ask; `scheme` empty: the first. Raises StartupError."""
    reachable = [listener for listener in listeners if scheme in ("", listener.scheme)]
    if not reachable:
        raise StartupError(f"{key}={scheme}, but no listener speaks it.")
    return reachable[0]


class RestTls(NamedTuple):
    """`client`: what others of the group are asked with."""

    server: ssl.SSLContext
    client: ssl.SSLContext


def read_tls(values: Mapping[str, str], asks_for: str) -> RestTls:
    """Read the `ssl.…` keys; `asks_for` client certificates: NONE, REQUESTED or REQUIRED.

    Raises ClientConfigError, StartupError.
    """
    properties = {name: text for name, text in values.items() if name.startswith("ssl.")}
    settings = read_security({**properties, "security.protocol": "SSL"}).tls or ClientTlsSettings()
    if settings.keystore is None:
        raise StartupError("a listener with https needs ssl.keystore.location, or ssl.keystore.certificate.chain.")
    return RestTls(server_context(settings, asks_for), client_context(settings))
