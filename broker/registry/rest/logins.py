"""Who may ask at all: names and passwords from a file that only its owner may read, if there is one."""

import base64
import hmac
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from broker.common.errors import StartupError
from broker.registry.errors import RegistryError

_BYTES_MAX = 1_000_000


class Logins:
    def __init__(self, passwords: dict[str, str]):
        self._passwords = passwords

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> RegistryError | None:
        """None for who shows a name and its password; 40101 for anybody else."""
        shown = next((value for name, value in headers if name == b"authorization"), b"")
        scheme, _, encoded = shown.partition(b" ")
        try:
            name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            name, password = "", ""
        expected = self._passwords.get(name)
        is_right = hmac.compare_digest((expected or "").encode(), password.encode())
        if scheme.lower() == b"basic" and expected is not None and is_right:
            return None
        return RegistryError(40101, "User cannot be authenticated")


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
