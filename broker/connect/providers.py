"""`${provider:path:key}` in configurations: what is kept elsewhere, so that a secret is in no topic (KIP-297)."""

import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from broker.common.confined_files import open_below
from broker.common.security_limits import (
    CONFIG_PATH_LENGTH_MAX,
    CONFIG_PROVIDER_FILE_BYTES_MAX,
    CONFIG_REFERENCES_MAX,
    CONFIG_RESOLVED_CHARACTERS_MAX,
)
from broker.config.definition import ConfigError
from broker.config.properties import parse_properties

_PREFIX = "config.providers"
#: The properties of files that were read for one configuration.
Files = dict[Path, Mapping[str, str]]
#: Path and key to the text; None: there is none, and the reference stays as it is.
Ask = Callable[[str, str, Files], str | None]


class Providers:
    """The config providers that a worker's properties name. Raises ConfigError for an invalid one."""

    def __init__(self, props: Mapping[str, str]):
        self._asks: dict[str, Ask] = {}
        for name in (part.strip() for part in props.get(_PREFIX, "").split(",") if part.strip()):
            prefix = f"{_PREFIX}.{name}."
            own = {key.removeprefix(f"{prefix}param."): value for key, value in props.items() if key.startswith(prefix)}
            kind = props.get(f"{prefix}class", "").rsplit(".", 1)[-1]
            if kind not in _KINDS:
                raise ConfigError(f"{prefix}class must be one of {', '.join(sorted(_KINDS))}")
            self._asks[name] = _KINDS[kind](own)

    def resolve(self, config: Mapping[str, str]) -> dict[str, str]:
        """Resolve the references of a configuration. Raises ConfigError, which names the key and never the value."""
        if not self._asks:
            return dict(config)
        one = _ConfigurationLookup(self._asks)
        return {key: one.resolved(key, text) if isinstance(text, str) else text for key, text in config.items()}


class _ConfigurationLookup:
    """One configuration: each file is read once for it, and a short text cannot stand for one of gigabytes."""

    def __init__(self, asks: Mapping[str, Ask]):
        self._asks = asks
        self._values: dict[str, str] = {}
        self._files: Files = {}
        self._references = 0
        self._characters = 0

    def resolved(self, key: str, text: str) -> str:
        parts: list[str] = []
        at = 0
        while (start := text.find("${", at)) >= 0 and (end := text.find("}", start)) >= 0:
            parts += text[at:start], self._counted(key, text[start : end + 1])
            at = end + 1
        return "".join((*parts, text[at:]))

    def _counted(self, key: str, reference: str) -> str:
        """Return the referenced value. Raises ConfigError for too many references, or too long values."""
        self._references += 1
        if self._references > CONFIG_REFERENCES_MAX:
            raise ConfigError(f"{key}: the configuration has more than {CONFIG_REFERENCES_MAX:,} references")
        if reference not in self._values:
            self._values[reference] = self._looked_up(key, reference)
        self._characters += len(self._values[reference])
        if self._characters > CONFIG_RESOLVED_CHARACTERS_MAX:
            most = f"{CONFIG_RESOLVED_CHARACTERS_MAX:,}"
            raise ConfigError(f"{key}: what the configuration refers to has more than {most} characters")
        return self._values[reference]

    def _looked_up(self, key: str, reference: str) -> str:
        """Return the value of `${provider:path:key}` or `${provider:key}`; the reference itself where there is none."""
        provider, colon, place = reference[2:-1].partition(":")
        path, second, name = place.partition(":")
        ask = self._asks.get(provider)
        if ask is None or not colon:
            return reference
        try:
            value = ask(path, name, self._files) if second else ask("", place, self._files)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{key}: {reference} cannot be read: {_reason(error)}") from None
        return reference if value is None else value


def refer(config: Mapping[str, str], raw: Mapping[str, str], resolved: Mapping[str, str]) -> dict[str, str]:
    """Replace resolved values that a connector copied into its tasks' configuration by their references again
    (KAFKA-9601).
    """
    return {
        key: raw[key] if key in raw and raw[key] != resolved.get(key) and text == resolved.get(key) else text
        for key, text in config.items()
    }


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__


def _within(own: Mapping[str, str], path: str) -> tuple[Path, Path]:
    """Return the path without links, and the directory of `allowed.paths` (KIP-993) it is in: the root where none are
    named.

    Raises PermissionError.
    """
    if len(path) > CONFIG_PATH_LENGTH_MAX:  # making it absolute takes the square of its length
        raise OSError(None, "its path is too long")
    resolved = Path(path).resolve()
    allowed = [Path(part.strip()).resolve() for part in own.get("allowed.paths", "").split(",") if part.strip()]
    around = [item for item in allowed or [Path("/")] if resolved.is_relative_to(item)]
    if not around:
        raise PermissionError(None, "not below allowed.paths")
    return resolved, min(around, key=lambda path: len(path.parts))


def _text(path: Path, root: Path) -> str:
    """Read a regular file that no link has replaced since the path was checked. Raises OSError, ValueError."""
    with open(path, "rb", opener=lambda _name, flags: open_below(root, path, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("not a regular file")
        data = file.read(CONFIG_PROVIDER_FILE_BYTES_MAX + 1)
    if len(data) > CONFIG_PROVIDER_FILE_BYTES_MAX:
        raise ValueError(f"longer than {CONFIG_PROVIDER_FILE_BYTES_MAX:,} bytes")
    return data.decode()


def _file(own: Mapping[str, str]) -> Ask:
    def ask(path: str, key: str, files: Files) -> str | None:
        resolved, root = _within(own, path)
        if resolved not in files:
            files[resolved] = parse_properties(_text(resolved, root))
        return files[resolved].get(key)

    return ask


def _directory(own: Mapping[str, str]) -> Ask:
    def ask(path: str, key: str, _files: Files) -> str | None:
        if "/" in key or key in ("", ".", ".."):
            return None
        resolved, root = _within(own, str(_within(own, path)[0] / key))
        return _text(resolved, root) if resolved.is_file() else None

    return ask


def _environment(own: Mapping[str, str]) -> Ask:
    allowed = re.compile(own.get("allowlist.pattern") or ".*")

    def ask(_path: str, key: str, _files: Files) -> str | None:
        return os.environ.get(key) if allowed.fullmatch(key) else None

    return ask


_KINDS: dict[str, Callable[[Mapping[str, str]], Ask]] = {
    "FileConfigProvider": _file,
    "DirectoryConfigProvider": _directory,
    "EnvVarConfigProvider": _environment,
}
