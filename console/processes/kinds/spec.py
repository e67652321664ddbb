"""Reading a spec: JSON a person or another feature wrote, checked field by field before anything is done with it.

A spec is readable in the database and on the page: a secret has no place in it, only the path of the file it is in.
It is checked again whenever it is started from: who can write the database gains no command and no path of his own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from django.conf import settings

#: As JSON has it: what a value is has been checked by the kind it is of, and is known nowhere else.
Spec: TypeAlias = dict[str, Any]

PATH_LENGTH_MAX = 900
TEXT_LENGTH_MAX = 2_000
PAIRS_MAX = 200
NAME_LENGTH_MAX = 60
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_KEY = re.compile(r"[A-Za-z0-9._-]+")


class SpecError(Exception):
    """A spec cannot be run; the message is one sentence that names the field."""


@dataclass(frozen=True)
class Launch:
    """`arguments` follow `python -m broker`. `ports` on 127.0.0.1 must answer; the first is the one shown."""

    arguments: list[str]
    data_dir: Path
    ports: list[int] = field(default_factory=list)


def check_name(name: str) -> None:
    """Check that the name can be part of file names: log, lock and run file."""
    if not _NAME.fullmatch(name) or len(name) > NAME_LENGTH_MAX:
        raise SpecError(f"The name of a process is 1 to {NAME_LENGTH_MAX} letters, digits, '-' and '_'.")


def refuse_unknown(spec: Mapping[str, object], known: set[str]) -> None:
    if unknown := sorted(set(spec) - known):
        raise SpecError(f"{unknown[0]} is no field of this kind of process.")


def read_number(spec: Mapping[str, object], name: str, at_least: int, at_most: int, default: int | None = None) -> int:
    value = spec.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value <= at_most:
        raise SpecError(f"{name} must be a whole number from {at_least} to {at_most}, not {value!r}.")
    return value


def read_port(spec: Mapping[str, object], name: str, default: int | None = None) -> int:
    return read_number(spec, name, 1, 65_535, default)


def read_optional_port(spec: Mapping[str, object], name: str) -> int | None:
    return None if spec.get(name) is None else read_port(spec, name)


def read_switch(spec: Mapping[str, object], name: str) -> bool:
    """Return the switch; off, if it is missing."""
    value = spec.get(name, False)
    if not isinstance(value, bool):
        raise SpecError(f"{name} must be true or false, not {value!r}.")
    return value


def read_text(spec: Mapping[str, object], name: str, default: str | None = None) -> str:
    """Return one line of text, also in a properties file, where a backslash at its end would join it with the next."""
    value = spec.get(name, default)
    if not isinstance(value, str) or len(value) > TEXT_LENGTH_MAX or not value.isprintable():
        raise SpecError(f"{name} must be one line of text.")
    if value.rstrip().endswith("\\"):
        raise SpecError(f"{name} must not end with a backslash.")
    return value.strip()


def read_directory(spec: Mapping[str, object], name: str) -> str:
    """Return an absolute path below the console's data, outside the directories the console has for itself."""
    value = _read_path(spec, name)
    if not is_data_directory(Path(value)):
        raise SpecError(f"{name} must be a directory of its own below {settings.DATA_DIR}, not {value!r}.")
    return value


def read_log_directory(spec: Mapping[str, object], name: str) -> str:
    """As `read_directory`, or below one of BARNABAS_LOG_ROOTS. What lies elsewhere is not looked at."""
    value = _read_path(spec, name)
    if not is_data_directory(Path(value)) and not any(map(Path(value).is_relative_to, settings.LOG_ROOTS)):
        raise SpecError(f"{name} must be below {settings.DATA_DIR} or one of BARNABAS_LOG_ROOTS, not {value!r}.")
    return value


def is_data_directory(path: Path) -> bool:
    own = (settings.SECRETS_DIR, settings.RUN_DIR, settings.LOG_DIR, settings.JOBS_DIR)
    is_below = path != settings.DATA_DIR and path.is_relative_to(settings.DATA_DIR)
    return is_below and not any(path.is_relative_to(item) for item in own)


def _read_path(spec: Mapping[str, object], name: str) -> str:
    value = read_text(spec, name)
    path = Path(value)
    if not path.is_absolute() or ".." in path.parts or len(value) > PATH_LENGTH_MAX:
        raise SpecError(f"{name} must be an absolute path, not {value!r}.")
    return value


def read_secret_file(spec: Mapping[str, object], name: str, own: str) -> str:
    """Return the path of the one allowed secret file, or an empty text."""
    value = read_text(spec, name, "")
    if value not in ("", own):
        raise SpecError(f"{name} must be {own} or nothing, not {value!r}.")
    return value


def read_pairs(spec: Mapping[str, object], name: str) -> dict[str, str]:
    """Return keys and values of a properties file, one line each."""
    pairs = spec.get(name, {})
    if not isinstance(pairs, Mapping) or len(pairs) > PAIRS_MAX:
        raise SpecError(f"{name} must be at most {PAIRS_MAX} keys with their values.")
    for key in pairs:
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise SpecError(f"{name} has {key!r}, which is no key of a properties file.")
    return {key: read_text(pairs, key) for key in pairs}
