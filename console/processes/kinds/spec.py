"""Reading a spec: JSON a person or another feature wrote, checked field by field before anything is done with it.

A spec is readable in the database and on the page: a secret has no place in it, only the path of the file it is in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PATH_LENGTH_MAX = 900
TEXT_LENGTH_MAX = 2_000
PAIRS_MAX = 200


class SpecError(Exception):
    """A spec cannot be run; the message is one sentence that names the field."""


@dataclass(frozen=True)
class Launch:
    """`arguments` follow `python -m broker`. `ports` on 127.0.0.1 must answer; the first is the one shown."""

    arguments: list[str]
    data_dir: Path
    ports: list[int] = field(default_factory=list)


def refuse_unknown(spec: Mapping, known: set[str]) -> None:
    if unknown := sorted(set(spec) - known):
        raise SpecError(f"{unknown[0]} is no field of this kind of process.")


def read_number(spec: Mapping, name: str, at_least: int, at_most: int, default: int | None = None) -> int:
    value = spec.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value <= at_most:
        raise SpecError(f"{name} must be a whole number from {at_least} to {at_most}, not {value!r}.")
    return value


def read_port(spec: Mapping, name: str, default: int | None = None) -> int:
    return read_number(spec, name, 1, 65_535, default)


def read_optional_port(spec: Mapping, name: str) -> int | None:
    return None if spec.get(name) is None else read_port(spec, name)


def read_text(spec: Mapping, name: str, default: str | None = None) -> str:
    """One line of text."""
    value = spec.get(name, default)
    if not isinstance(value, str) or len(value) > TEXT_LENGTH_MAX or not value.isprintable():
        raise SpecError(f"{name} must be one line of text.")
    return value.strip()


def read_directory(spec: Mapping, name: str) -> str:
    """An absolute path."""
    value = read_text(spec, name)
    if not Path(value).is_absolute() or len(value) > PATH_LENGTH_MAX:
        raise SpecError(f"{name} must be an absolute path, not {value!r}.")
    return value


def read_pairs(spec: Mapping, name: str) -> dict[str, str]:
    """Keys and values of a properties file, one line each."""
    pairs = spec.get(name, {})
    if not isinstance(pairs, Mapping) or len(pairs) > PAIRS_MAX:
        raise SpecError(f"{name} must be at most {PAIRS_MAX} keys with their values.")
    for key in pairs:
        if not isinstance(key, str) or not key or not set(key).isdisjoint("=:# \\\n"):
            raise SpecError(f"{name} has {key!r}, which is no key of a properties file.")
    return {key: read_text(pairs, key) for key in pairs}
