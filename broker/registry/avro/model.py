"""An Avro schema as a tree. A named type that is spoken of again is the same object: types may contain themselves."""

from dataclasses import dataclass, field
from typing import Any

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
#: What Avro has a word for: a name of its own that is one of these is always written in full.
TYPE_NAMES = frozenset({*PRIMITIVES, "record", "enum", "array", "map", "union", "fixed"})

#: Of a field that has no default: null is one.
NO_DEFAULT = object()


@dataclass(frozen=True, slots=True)
class Name:
    """`space` is empty for a name without a namespace."""

    local: str
    space: str

    @property
    def full(self) -> str:
        return f"{self.space}.{self.local}" if self.space else self.local


@dataclass(eq=False, slots=True)
class AvroType:
    """`kind` is Avro's word; `properties` is what a schema may carry that Avro gives no meaning (logicalType …)."""

    kind: str
    properties: dict[str, Any] = field(default_factory=dict)
    # named types
    name: Name | None = None
    aliases: tuple[Name, ...] = ()
    doc: str | None = None
    # records
    fields: list["AvroField"] = field(default_factory=list)
    # enums
    symbols: tuple[str, ...] = ()
    enum_default: str | None = None
    # fixed
    size: int = 0
    # arrays, maps: one; unions: any number
    inner: list["AvroType"] = field(default_factory=list)
    #: It came from a schema that was referred to: its text is not part of this one.
    is_referred: bool = False

    @property
    def label(self) -> str:
        """The full name of a named type, otherwise the kind."""
        return self.name.full if self.name else self.kind

    @property
    def logical(self) -> str:
        """The logical type; empty where the schema has none."""
        return str(self.properties.get("logicalType") or "")

    @property
    def scale(self) -> int:
        """Digits of a decimal behind its point; 0 where the schema says none."""
        scale = self.properties.get("scale")
        return scale if isinstance(scale, int) else 0


@dataclass(eq=False, slots=True)
class AvroField:
    name: str
    type: AvroType
    default: Any = NO_DEFAULT
    doc: str | None = None
    order: str = "ascending"
    aliases: tuple[str, ...] = ()
    properties: dict[str, Any] = field(default_factory=dict)
