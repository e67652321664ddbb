"""Sockets for HTTP that end in time: a timeout is of one read, and who sends a byte each second meets it for ever."""

import ssl
import time
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

import httpcore2
from httpcore2 import SOCKET_OPTION

from console.kit.common.outbound import AddressRule, checked_addresses, connect_to_first

#: When whatever this thread asks has to be over, on the monotonic clock.
ENDS: ContextVar[float] = ContextVar("ENDS", default=float("inf"))


class DeadlineBackend(httpcore2.SyncBackend):
    """TCP and TLS; what is read later than `ENDS` is a ReadTimeout, and no socket goes where `rule` refuses."""

    def __init__(self, rule: AddressRule | None):
        """`rule` None: an administrator's file names the address, which may be any."""
        self._rule = rule

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Raises AddressRefusedError."""
        connect = super().connect_tcp
        addresses = checked_addresses(host, port, self._rule) if self._rule else [host]
        return connect_to_first(
            addresses, lambda address: _DeadlineStream(connect(address, port, timeout, local_address, socket_options))
        )


class _DeadlineStream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream):
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = ENDS.get() - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the answer is not over in time")
        return self._inner.read(max_bytes, left if timeout is None else min(timeout, left))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, timeout)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
