"""The language messages are declared in: one class per message, the versions on its fields, the meaning beside them.

    class HeartbeatResponse(Message, api=ApiKey.HEARTBEAT, versions=(0, 4), flexible_from=4):
        throttle_time_ms: int = wire(int32, since=1, ignorable=True)
        error_code: int = wire(int16)

The declaration becomes a slotted class with a keyword-only constructor, equality and a repr; it has no other behaviour.
A field left out of the constructor has its declared default or, as in Kafka, the zero of its type. `codec` reads
`fields`, `versions` and `flexible_from` and does the rest.

Slots must exist before the class does, hence a metaclass; dataclasses would build each class twice.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, dataclass_transform

from broker.common.errors import InvariantViolation
from broker.protocol.api_keys import ApiKey
from broker.protocol.primitives import (
    ZERO_UUID,
    Array,
    Buffer,
    Primitive,
    array,
    boolean,
    bytes_,
    float64,
    int8,
    int16,
    int32,
    int64,
    records,
    string,
    uint16,
    uuid,
)

__all__ = [
    "OWN_TAG_MIN",
    "ZERO_UUID",
    "Array",
    "Buffer",
    "Message",
    "Primitive",
    "Request",
    "StoredValue",
    "Struct",
    "Versioned",
    "WireField",
    "array",
    "boolean",
    "bytes_",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "records",
    "string",
    "uint16",
    "uuid",
    "wire",
]

_LATEST = 1 << 15
#: Tags from here on are our own, between brokers of this kind; Kafka hands its tags out one by one from 0.
OWN_TAG_MIN = 10_000
_FRESH = object()  # stands for "a new empty list or struct for each message" in constructor signatures


@dataclass(slots=True)
class WireField:
    """One field of a struct: its wire type and the message versions in which it exists and may be null."""

    type: Any
    since: int
    until: int
    nullable_since: int | None
    default: Any
    tag: int | None
    ignorable: bool
    secret: bool = False
    name: str = ""

    def exists_in(self, version: int) -> bool:
        return self.since <= version <= self.until

    def nullable_in(self, version: int) -> bool:
        return self.nullable_since is not None and version >= self.nullable_since

    @property
    def has_fresh_default(self) -> bool:
        """Whether the default is a new list or struct each time rather than a constant."""
        return self.default is _FRESH

    def new_default(self) -> Any:
        if self.default is not _FRESH:
            return self.default
        return [] if isinstance(self.type, Array) else self.type()


def wire(
    type: Any,
    *,
    since: int = 0,
    until: int = _LATEST,
    nullable: bool = False,
    nullable_since: int | None = None,
    default: Any = _FRESH,
    tag: int | None = None,
    ignorable: bool = False,
    secret: bool = False,
) -> Any:
    """Declare a field.

    since, until: the first and last message version that has it. nullable: it may be null in every version;
    nullable_since: from that version on. tag: it is a tagged field of that number. ignorable: when a version lacks the
    field, a value other than the default is dropped silently instead of refused. A tagged struct with `default=None`
    is None when the peer left it out. secret: the value is shown by no repr, which is what logs and tracebacks print.
    """
    if default is _FRESH and isinstance(type, Primitive):
        default = type.default
    return WireField(type, since, until, 0 if nullable else nullable_since, default, tag, ignorable, secret)


def _constructor(name: str, fields: tuple[WireField, ...]) -> Any:
    """Compile a keyword-only __init__: as fast as one written by hand."""
    globals_: dict[str, Any] = {"_FRESH": _FRESH}
    parameters, body = [], ["    pass"]
    for field in fields:
        globals_[f"_default_{field.name}"] = field.default
        parameters.append(f"{field.name}=_default_{field.name}")
        value = field.name
        if field.has_fresh_default:
            globals_[f"_type_{field.name}"] = list if isinstance(field.type, Array) else field.type
            value = f"_type_{field.name}() if {field.name} is _FRESH else {field.name}"
        body.append(f"    self.{field.name} = {value}")
    signature = f"def __init__(self{', *, ' if parameters else ''}{', '.join(parameters)}):"
    exec("\n".join([signature, *body]), globals_)
    init: Any = globals_["__init__"]
    init.__qualname__ = f"{name}.__init__"
    return init


@dataclass_transform(kw_only_default=True)
class Declaration(type):
    """Turns a class body of `wire` fields into a slotted class."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **declared: Any) -> Any:
        fields = tuple(value for value in namespace.values() if isinstance(value, WireField))
        for attribute, value in list(namespace.items()):
            if isinstance(value, WireField):
                value.name = attribute
                del namespace[attribute]
        namespace["__slots__"] = tuple(field.name for field in fields)
        namespace["__init__"] = _constructor(name, fields)
        cls: Any = super().__new__(mcs, name, bases, namespace, **declared)
        cls.fields = fields
        _check_declaration(cls)
        return cls


def _check_declaration(cls: Any) -> None:
    for field in cls.fields:
        may_be_none = field.nullable_since is not None or field.tag is not None
        if field.default is None and not may_be_none:
            raise InvariantViolation(f"{cls.__name__}.{field.name} defaults to null but is never nullable")


class Struct(metaclass=Declaration):
    """A group of fields inside a message; its field versions are versions of the message it is part of."""

    fields: ClassVar[tuple[WireField, ...]]
    __hash__ = None  # type: ignore[assignment]  # as any class that has __eq__ and no __hash__

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in self.fields)

    def __repr__(self) -> str:
        values = ", ".join(
            f"{field.name}={'<secret>' if field.secret else _short_repr(getattr(self, field.name))}"
            for field in self.fields
        )
        return f"{self.__class__.__name__}({values})"


def _short_repr(value: object) -> str:
    """Return a short repr: payloads can be megabytes; a log line wants their size."""
    if isinstance(value, bytes | bytearray | memoryview) and len(value) > 32:
        return f"<{len(value)} bytes>"
    return repr(value)


class Versioned(Struct):
    """A struct that is encoded as a whole, in one of its versions."""

    versions: ClassVar[tuple[int, int]]
    flexible_from: ClassVar[int | None]

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        """Whether this version has compact lengths and tagged fields (KIP-482)."""
        return cls.flexible_from is not None and version >= cls.flexible_from


class Message(Versioned):
    """A request or response body."""

    api: ClassVar[ApiKey]

    def __init_subclass__(cls, *, api: ApiKey, versions: tuple[int, int], flexible_from: int | None) -> None:
        cls.api = api
        cls.versions = versions
        cls.flexible_from = flexible_from


class StoredValue(Versioned):
    """The value of a record of an internal topic, in the encoding that Kafka has for it."""

    def __init_subclass__(cls, *, versions: tuple[int, int], flexible_from: int | None) -> None:
        cls.versions = versions
        cls.flexible_from = flexible_from


ResponseT = TypeVar("ResponseT", bound=Message, covariant=True)

if TYPE_CHECKING:

    class Request(Message, Generic[ResponseT], api=ApiKey.API_VERSIONS, versions=(0, 0), flexible_from=None):
        """A request body. The response of its API is its type argument: `Request["HeartbeatResponse"]`.

        A connection that sends one returns a response of that type; nothing of this is left while the program runs.
        """

else:

    class Request(Message, api=None, versions=None, flexible_from=None):
        def __class_getitem__(cls, response):
            return cls
