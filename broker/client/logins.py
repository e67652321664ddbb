"""Logins of our REST APIs: names and passwords from a file that only its owner may read, if there is one."""

import asyncio
import base64
import hmac
import os
import stat
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from broker.common.errors import StartupError
from broker.security.sasl.failures import FailedLogins

_BYTES_MAX = 1_000_000
#: How long the answer to a wrong password is held back; doubled with each further one, as brokers do.
_DELAY_MS = 100


class ClientLogins:
    def __init__(self, passwords: dict[str, str], pause: Callable[[float], Awaitable[object]] = asyncio.sleep):
        """pause: waits for so many seconds."""
        self._passwords = passwords
        self._pause = pause
        self._failures = FailedLogins()

    @property
    def authorization(self) -> str:
        """The header of the first of them, by which servers that share the file ask one another."""
        name, password = next(iter(self._passwords.items()))
        return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()

    async def admit(self, scope: Mapping[str, Any]) -> bool:
        """Return whether an HTTP request shows a name and its password.

        Each further wrong one of an address is answered later, so that guessing is slow. A request that shows none, as
        browsers send at first, is no guess.
        """
        is_right = self.admits(scope["headers"])
        if not is_right and any(name == b"authorization" for name, _ in scope["headers"]):
            address = (scope.get("client") or ("",))[0]
            await self._pause(self._failures.delay_ms(address, _DELAY_MS, time.monotonic_ns() // 1_000_000) / 1_000)
        return is_right

    def admits(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether they show a name and its password."""
        shown = next((value for name, value in headers if name == b"authorization"), b"")
        scheme, _, encoded = shown.partition(b" ")
        try:
            name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            name, password = "", ""
        expected = self._passwords.get(name)
        is_right = hmac.compare_digest((expected or "").encode(), password.encode())
        return scheme.lower() == b"basic" and expected is not None and is_right


def read_logins(path: Path) -> ClientLogins:
    """Read lines `name: password`; what follows a comma (Jetty's roles) is ignored. Raises StartupError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
                raise StartupError(
                    f"authentication.file={path} must be a file that only its owner may read; chmod 600 it."
                )
            text = file.read(_BYTES_MAX).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"authentication.file={path} cannot be read: {getattr(error, 'strerror', error)}.") from None
    pairs = [line.partition(":") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    passwords = {name.strip(): rest.partition(",")[0].strip() for name, colon, rest in pairs if colon}
    if not passwords or not all(passwords.values()):
        raise StartupError(f"authentication.file={path} must hold a line `name: password` for each user.")
    return ClientLogins(passwords)
