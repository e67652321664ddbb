"""What a Protobuf type and a field of a message are to the converter, and how its settings read them. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from broker.connect.api import Field, Schema

Make = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class ProtobufNode:
    """A type: its schema, and how values of Connect that are not null become Protobuf's, and back."""

    schema: Schema
    to: Make
    of: Callable[[Schema, Any], Any]


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A field of a message: `put` sets it from a value, `get` reads it."""

    field: Field
    put: Callable[[Any, Any], None]
    get: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class ProtobufOptions:
    """`uses_optional`: optional.for.nullables, so that nothing else than `optional` is optional. `keeps_nulls`:
    ignore.default.for.nullables. `rename` is what names were written with.
    """

    uses_optional: bool = False
    keeps_nulls: bool = False
    rename: Callable[[str], str] = str
