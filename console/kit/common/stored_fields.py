"""Objects that were stored as their fields, in a JSON column, and are read again."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

_Stored = TypeVar("_Stored")


def from_stored(kind: type[_Stored], stored: Mapping[str, Any]) -> _Stored:
    """Return the dataclass `kind` with the fields of it that are in `stored`; the others of `stored` are left out.

    A later version of the console, which was here before this one came back, may have stored more than this one knows.
    """
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # `kind` is a dataclass, which no bound says
    return kind(**{name: value for name, value in stored.items() if name in names})
