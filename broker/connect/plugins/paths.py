"""Where connectors may read and write files. Whoever may configure a connector is not therefore the worker's user.

The worker calls `allow` once, before any connector starts; until then every path is allowed, as in Kafka.
"""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from broker.common.confined_files import open_below
from broker.common.security_limits import CONFIG_PATH_LENGTH_MAX
from broker.connect.api import ConfigError

#: Options of Kafka's clients that name a file; one that holds a token is named by a URL.
_OF_CLIENTS = frozenset(f"ssl.{name}.location" for name in ("ca", "certificate", "key", "keystore", "truststore"))
_TOKENS, _FILE_URL = "sasl.oauthbearer.token.endpoint.url", "file://"
_roots: tuple[Path, ...] | None = None
_write_roots: tuple[Path, ...] | None = None


def allow(roots: list[str] | None, write_roots: list[str] | None = None) -> None:
    """Allow connectors these directories only; None: every directory; an empty list: none. With `write_roots`
    connectors write below those only: a source may read a log to which no sink may append.
    """
    global _roots, _write_roots
    _roots = None if roots is None else tuple(Path(root).resolve() for root in roots)
    _write_roots = None if write_roots is None else tuple(Path(root).resolve() for root in write_roots)


def is_held() -> bool:
    """Return whether connectors may not read and write everywhere."""
    return _roots is not None


def checked_path(name: str, text: str, *, writes: bool = False) -> Path:
    """Return the absolute path, links followed, so that none leads out. Raises ConfigError for the key `name`."""
    if len(text) > CONFIG_PATH_LENGTH_MAX:  # making it absolute takes the square of its length
        raise ConfigError(name, f"Invalid value {text[:100]} for configuration {name}: the path is too long")
    try:
        path = Path(text).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(name, f"Invalid value for configuration {name}: not a path ({error})") from None
    if _roots is not None and not any(path.is_relative_to(root) for root in _roots):
        raise ConfigError(name, f"Invalid value {text} for configuration {name}: outside of what this worker allows")
    if writes and _write_roots is not None and not any(path.is_relative_to(root) for root in _write_roots):
        raise ConfigError(
            name,
            f"Invalid value {text} for configuration {name}: connectors may read it and not write to it; choose a path "
            "below connector.file.write.roots",
        )
    return path


def open_checked(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open what `checked_path` returned; a link put there since then is refused.

    Raises OSError; where every path is allowed, so is every link.
    """
    root = root_of(path)
    return os.open(path, flags | os.O_CLOEXEC, mode) if root is None else open_below(root, path, flags, mode)


def root_of(path: Path) -> Path | None:
    """Return the outermost allowed directory with this path, None where every path is allowed.

    Raises PermissionError for a path that `checked_path` would refuse.
    """
    if _roots is None:
        return None
    around = [root for root in _roots if path.is_relative_to(root)]
    if not around:
        raise PermissionError(None, "outside of what this worker allows")
    return min(around, key=lambda root: len(root.parts))


def check_option(option: str, value: str) -> None:
    """Check the files in an option of a connector's client. Raises ConfigError for a forbidden file."""
    text = value.strip()
    if option in _OF_CLIENTS:
        checked_path(option, text)
    elif option == _TOKENS and text.startswith(_FILE_URL):
        checked_path(option, unquote(urlsplit(text).path))


def is_allowed_path(name: str, value: str) -> None:
    """Validate a path that is read."""
    if value:
        checked_path(name, value)


def is_writable_path(name: str, value: str) -> None:
    """Validate a path that is written, renamed or deleted."""
    if value:
        checked_path(name, value, writes=True)
