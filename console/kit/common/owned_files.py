"""Files of the configuration that an administrator owns: secrets nobody else may read, rules nobody else may write."""

import os
import stat
from pathlib import Path

_SECRET_BYTES_MAX = 4_096
_RULES_BYTES_MAX = 1024 * 1024


class FileError(Exception):
    """One sentence for the operator; never of what is in the file."""


def read_secret(path: Path, what: str = "the secret") -> str:
    """Return the one line of a file of mode 600, which is `what`. Raises FileError."""
    text = _read(path, 0o077, "can be read by others; chmod 600 it", _SECRET_BYTES_MAX).strip()
    if not text or not text.isascii() or not text.isprintable():
        raise FileError(f"{path} must hold one line, {what}.")
    return text


def read_private_text(path: Path) -> str:
    """Read a file of mode 600 that has secrets. Raises FileError."""
    return _read(path, 0o077, "can be read by others; chmod 600 it", _RULES_BYTES_MAX)


def read_rules_text(path: Path) -> str:
    """Read a file of rules; raises FileError if others may write it, since they could grant themselves anything."""
    return _read(path, 0o022, "can be written by others; chmod go-w it", _RULES_BYTES_MAX)


def read_rules_bytes(path: Path, bytes_max: int) -> bytes:
    """Read a binary file as `read_rules_text`."""
    return _bytes(path, 0o022, "can be written by others; chmod go-w it", bytes_max)


def _read(path: Path, forbidden: int, complaint: str, bytes_max: int) -> str:
    return _bytes(path, forbidden, complaint, bytes_max).decode("utf-8", "replace")


def _bytes(path: Path, forbidden: int, complaint: str, bytes_max: int) -> bytes:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise FileError(f"{path} is no file.")
            if status.st_mode & forbidden:
                raise FileError(f"{path} {complaint}.")
            content = file.read(bytes_max + 1)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > bytes_max:
        raise FileError(f"{path} is larger than {bytes_max} bytes.")
    return content
