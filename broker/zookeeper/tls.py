"""A connection to ZooKeeper within TLS: kazoo's own knows files of PEM only, and does not say why it fails."""

import socket
import ssl
from collections.abc import Mapping
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler

from broker.keystores.files import BadStore
from broker.net.tls.contexts import client_context
from broker.net.tls.settings import TlsSettings


class TlsHandler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo gives no types
    """Kazoo's handler, whose connections are within TLS. A context is made for each: a certificate may be a new one."""

    def __init__(self, settings: TlsSettings):
        super().__init__()
        self._settings = settings
        #: Why the last connection failed before ZooKeeper said a word; empty once one has not.
        self.problem = ""

    def create_connection(
        self, address: tuple[str, int], hostname: str | None = None, timeout: float | None = None, **_files: Any
    ) -> ssl.SSLSocket:
        """Connect as kazoo expects: it retries after an OSError; any other exception would end its thread."""
        plain = socket.create_connection(address, timeout)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            within = client_context(self._settings).wrap_socket(plain, server_hostname=hostname or address[0])
        except ssl.SSLError as error:
            self.problem = _reason_of(error)
            plain.close()
            raise
        except BadStore as error:  # it was good when the session began
            self.problem = str(error)
            plain.close()
            raise OSError(self.problem) from error
        except BaseException:
            plain.close()
            raise
        self.problem = ""
        return within

    def select(self, reading: list[Any], *others: Any) -> Any:
        """Select readable sockets, including data OpenSSL has already decrypted, which the system does not report."""
        unpacked = [item for item in reading if isinstance(item, ssl.SSLSocket) and item.pending()]
        return (unpacked, [], []) if unpacked else super().select(reading, *others)


def _reason_of(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not believed: {error.verify_message}"
    return f"no TLS came about: {error.reason or error}"


def tls_settings(options: Mapping[str, Any] | None) -> TlsSettings | None:
    """Return the settings from `zookeeper_tls`. Raises BadStore for unusable stores, before connecting."""
    if options is None:
        return None
    settings = TlsSettings(**options)
    client_context(settings)
    return settings


def tls_arguments(tls: TlsSettings | None) -> dict[str, Any]:
    """Return the additional arguments of a `KazooClient`. A handler belongs to one client."""
    return {} if tls is None else {"handler": TlsHandler(tls), "use_ssl": True}
