"""Mail to a server that may be anybody: smtplib has a timeout for each read, and a reply may have any length."""

import io
import smtplib
import socket
import time
from typing import Any

from console.kit.common.outbound import AddressRule, checked_addresses, connect_to_first

#: For each pause within a delivery.
TIMEOUT_S = 10.0
#: For all of a delivery.
DEADLINE_S = 30.0
#: Of all replies; an honest server says less than a thousandth of it.
REPLY_BYTES_MAX = 1024 * 1024


class BoundedSmtp(smtplib.SMTP):
    """A server that is slower, or says more, is one that has left: a mail that it took before is not sent again."""

    def __init__(self, host: str, port: int, rule: AddressRule | None = None, **tls: Any):
        """`rule` says which IP addresses are connected to; None: any. Raises AddressRefusedError."""
        self._rule = rule
        self.ends, self.bytes_left = time.monotonic() + DEADLINE_S, REPLY_BYTES_MAX
        super().__init__(host, port, timeout=TIMEOUT_S, **tls)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connect a socket; the certificate must have the name `host`, whichever of its addresses is connected to."""
        connect = super()._get_socket  # type: ignore[misc]  # not in typeshed
        addresses = checked_addresses(host, port, self._rule) if self._rule else [host]
        return connect_to_first(addresses, lambda address: connect(address, port, timeout))

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None:  # after connecting, and after STARTTLS
            assert self.sock is not None
            self.file = io.BufferedReader(_Replies(self, self.sock))
        return super().getreply()

    def send(self, s: Any) -> None:
        if self.sock is not None:
            self.sock.settimeout(self.pause_s())
        super().send(s)

    def pause_s(self) -> float:
        """Return how long to wait at most now. Raises SMTPServerDisconnected."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise smtplib.SMTPServerDisconnected("the delivery is not over in time")
        return min(TIMEOUT_S, left)


class _Replies(io.RawIOBase):
    def __init__(self, server: BoundedSmtp, connection: socket.socket):
        self._server, self._connection = server, connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # makefile gives no other buffer
        self._connection.settimeout(self._server.pause_s())
        came = self._connection.recv_into(buffer)
        self._server.bytes_left -= came
        if self._server.bytes_left < 0:
            raise OSError(f"replies of more than {REPLY_BYTES_MAX} bytes")
        return came


class BoundedSmtpOverTls(BoundedSmtp, smtplib.SMTP_SSL):
    """TLS from the first byte; its `context` says who is believed."""
