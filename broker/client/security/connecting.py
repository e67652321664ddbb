"""What makes a connection safe: TLS around its socket, and the login on it. Made once for all connections of a kind.

Certificates that change on disk count for the next connection.
"""

import contextlib
import os
import socket
import ssl
import threading
from functools import lru_cache

from broker.client.security.bearer import TokenSource
from broker.client.security.errors import ClientConfigError
from broker.client.security.login import ClientCredentials
from broker.client.security.properties import ClientSecurity, ClientTlsSettings
from broker.client.security.tls import client_context, why_untrusted
from broker.security.login import Login

#: Of different properties in one process; there is rarely more than one.
_KINDS_MAX = 16

_Stamps = tuple[tuple[int, int] | None, ...]


class Secured:
    """Threads may share it."""

    def __init__(self, security: ClientSecurity):
        """Raises ClientConfigError, also for what a file lacks."""
        self._tls = security.tls
        self._lock = threading.Lock()
        self._stamps: _Stamps = ()
        self._context: ssl.SSLContext | None = None
        self._current_context()
        sasl = security.sasl
        tokens = TokenSource(sasl.bearer, self._current_context) if sasl and sasl.bearer else None
        self._credentials = ClientCredentials(sasl, tokens) if sasl else None

    def wrap(self, plain: socket.socket, host: str) -> socket.socket:
        """Wrap the socket in TLS if the settings ask for it; blocks for the handshake, up to the socket's timeout.

        Raises OSError.
        """
        context = self._current_context()
        return plain if context is None else context.wrap_socket(plain, server_hostname=host)

    def login(self) -> Login | None:
        """Return the login for one connection."""
        return self._credentials.login() if self._credentials else None

    @staticmethod
    def why(error: OSError) -> str | None:
        """Return the sentence for a TLS failure, which waiting does not mend; None for other errors."""
        if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
            return why_untrusted(error)
        return None

    @staticmethod
    def ends(error: OSError) -> bool:
        """Return whether the other end hung up within TLS. It may have said why, in bytes that were lost with the
        rest.
        """
        return isinstance(error, ssl.SSLEOFError)

    def _current_context(self) -> ssl.SSLContext | None:
        if self._tls is None:
            return None
        with self._lock:
            stamps = _stamps(self._tls)
            if self._context is None:
                self._context, self._stamps = client_context(self._tls), stamps
            elif stamps != self._stamps:
                # What is being replaced may fit together a moment later.
                with contextlib.suppress(ClientConfigError):
                    self._context, self._stamps = client_context(self._tls), stamps
            return self._context


@lru_cache(_KINDS_MAX)
def secured(security: ClientSecurity) -> Secured:
    """Raises ClientConfigError."""
    return Secured(security)


def _stamps(tls: ClientTlsSettings) -> _Stamps:
    """Return the modification times and sizes of the stores."""
    trust, own = tls.truststore, tls.keystore
    paths = [trust.location if trust else "", own.location if own else "", own.key_location if own else ""]
    return tuple(_stamp(path) for path in paths if path)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
