"""Who may ask a REST of ours at all: names and passwords from a file that only its owner may read, if there is one."""

import base64
import hmac
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from broker.common.errors import StartupError

_BYTES_MAX = 1_000_000


class Logins:
    def __init__(self, passwords: dict[str, str]):
        self._passwords = passwords

    @property
    def authorization(self) -> str:
        """The header of the first of them, by which servers that share the file ask one another."""
        name, password = next(iter(self._passwords.items()))
        return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()

    def admits(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether they show a name and its password."""
        shown = next((value for name, value in headers if name == b"authorization"), b"")
        scheme, _, encoded = shown.partition(b" ")
        try:
            name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            name, password = "", ""
        expected = self._passwords.get(name)
        is_right = hmac.compare_digest((expected or "").encode(), password.encode())
        return scheme.lower() == b"basic" and expected is not None and is_right


def read_logins(path: Path) -> Logins:
    """Lines `name: password`; what follows a comma (Jetty's roles) is passed over. Raises StartupError."""
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
    return Logins(passwords)
