"""One configuration key as data, and how a text becomes its value.

Every table of keys (broker.py, topic.py) is a list of `Key`. Parsing, defaults, errors and the documentation all come
from the table; nothing else in the product knows what a key is called in a file.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, TypeVar, overload

from broker.common.errors import ApiError, ErrorCode
from broker.common.java.numbers import double_text, parse_double

Value = TypeVar("Value")
AnyParser = TypeVar("AnyParser", bound=Callable[[str], Any])

#: Default of a key that must be given.
REQUIRED = object()

_INT = re.compile(r"[+-]?[0-9]{1,19}")


class ConfigType(IntEnum):
    """Types of values on the wire."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    PASSWORD = 9


class ConfigSource(IntEnum):
    """Where a value comes from; the smallest in effect wins. Values of `config_source` on the wire."""

    TOPIC = 1
    BROKER = 2  #: set for one broker while it runs
    CLUSTER = 3  #: set for all brokers while they run
    BROKER_FILE = 4
    DEFAULT = 5
    LOGGER = 6
    CLIENT_METRICS = 7  #: set for a subscription to client metrics
    GROUP = 8


class UpdateMode(Enum):
    """When a broker's key may change, and for whom (KIP-226)."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"  #: for all brokers, or for one


class ConfigError(ApiError):
    """A value that a key does not accept; the message names the key, the value and what is accepted."""

    def __init__(self, message: str):
        super().__init__(ErrorCode.INVALID_CONFIG, message)


def parse_int(text: str) -> int:
    """Parse a number as Java parses a long; Python's `1_000` and digits of other scripts are refused."""
    if not _INT.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
        raise ValueError(text)
    return int(text)


def parse_int32(text: str) -> int:
    """Parse a number as Java parses an int."""
    if not -(2**31) <= parse_int(text) < 2**31:
        raise ValueError(text)
    return int(text)


def parse_int16(text: str) -> int:
    """Parse a short as Java writes it."""
    if not -(2**15) <= parse_int(text) < 2**15:
        raise ValueError(text)
    return int(text)


def parse_boolean(text: str) -> bool:
    try:
        return {"true": True, "false": False}[text.strip().lower()]
    except KeyError:
        raise ValueError("true or false") from None


def parse_list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


@dataclass(frozen=True, slots=True, repr=False)
class Password:
    """A secret; written or logged it is hidden."""

    value: str

    def __str__(self) -> str:
        return "[hidden]"

    __repr__ = __str__


def parse_password(text: str) -> Password:
    return Password(text)


@dataclass(frozen=True, slots=True)
class Key:
    """A configuration key: Kafka's name, how to read it, its default (None: not set) and what it means."""

    name: str
    parse: Callable[[str], Any]
    default: Any
    meaning: str
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[str, ...] = ()
    #: Whether anything reads the value; what Kafka's files and tools set besides is accepted.
    has_effect: bool = True

    @property
    def attribute(self) -> str:
        return self.name.replace(".", "_")

    @property
    def config_type(self) -> ConfigType:
        """The type as DescribeConfigs reports it (KIP-569)."""
        types: dict[Callable[[str], Any], ConfigType] = {
            parse_int: ConfigType.LONG,
            parse_int32: ConfigType.INT,
            parse_int16: ConfigType.SHORT,
            parse_boolean: ConfigType.BOOLEAN,
            parse_double: ConfigType.DOUBLE,
            parse_password: ConfigType.PASSWORD,
        }
        if self.parse not in types and isinstance(self.default, int) and not isinstance(self.default, Enum):
            return ConfigType.BOOLEAN if isinstance(self.default, bool) else ConfigType.INT
        is_list = self.parse is parse_list or getattr(self.parse, "is_list", False)
        return types.get(self.parse, ConfigType.LIST if is_list else ConfigType.STRING)

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    @property
    def default_text(self) -> str | None:
        return None if self.default is REQUIRED else render_value(self.default)

    def read(self, text: str) -> Any:
        """Return the value that a text says. Raises ConfigError in the words of Kafka's ConfigDef."""
        try:
            value = self.parse(text.strip())
        except ValueError:
            if kind := _kafkas_kind(self.parse):
                raise self._invalid(text, kind) from None
            if sentence := getattr(self.parse, "kafkas_sentence", ""):
                shown = f"[{', '.join(parse_list(text))}]" if self.config_type is ConfigType.LIST else text
                raise self._invalid(shown, sentence.format(name=self.name)) from None
            accepts = getattr(self.parse, "accepts", "a valid value")
            raise ConfigError(f"{self.name}={text!r} is not {accepts}") from None
        if self.at_least is not None and not value >= self.at_least:
            raise self._invalid(_number_text(value), f"Value must be at least {self.at_least:g}")
        if self.at_most is not None and value > self.at_most:
            raise self._invalid(_number_text(value), f"Value must be no more than {self.at_most:g}")
        for part in (value if isinstance(value, tuple) else [value]) if self.choices else ():
            if part not in self.choices:
                raise self._invalid(part, f"String must be one of: {', '.join(self.choices)}")
        return value

    def _invalid(self, value: object, why: str) -> ConfigError:
        return ConfigError(f"Invalid value {value} for configuration {self.name}: {why}")


@dataclass(frozen=True, slots=True)
class _Setting:
    """A key without its name, which is that of the attribute."""

    parse: Callable[[str], Any]
    default: Any
    meaning: str
    bounds: dict[str, Any]


@overload
def setting(parse: Callable[[str], Value], default: None, meaning: str, **bounds: Any) -> Value | None: ...
@overload
def setting(parse: Callable[[str], Value], default: object, meaning: str, **bounds: Any) -> Value: ...
def setting(parse: Callable[[str], Any], default: Any, meaning: str, **bounds: Any) -> Any:
    """Declare a key in a class body, as an attribute of the type that `parse` reads; the rest is as in `Key`."""
    return _Setting(parse, default, meaning, bounds)


def take_keys(settings: type) -> list[Key]:
    """Return the keys declared there. The attributes go: those of an object with values are found faster without
    them.
    """
    declared = {name: value for name, value in vars(settings).items() if isinstance(value, _Setting)}
    for name in declared:
        delattr(settings, name)
    return [
        Key(name.replace("_", "."), item.parse, item.default, item.meaning, **item.bounds)
        for name, item in declared.items()
    ]


def without_effect(name: str, parse: Callable[[str], Any], default: Any, at_least: float | None = None) -> Key:
    """Declare a key of Kafka's that is accepted and has no effect."""
    return Key(name, parse, default, "Accepted as Kafka does, without effect here.", at_least, has_effect=False)


def render_value(value: Any) -> str | None:
    """Return the text a value is written as; None when it is not set."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return render_list(value)
    return str(value)


def render_list(parts: Iterable[object]) -> str:
    """Return the text that `parse_list` reads."""
    return ",".join(str(part) for part in parts)


def accepting(words: str, *, is_list: bool = False, kafkas_sentence: str = "") -> Callable[[AnyParser], AnyParser]:
    """Decorates a parser: what a text must be, whether Kafka calls it a list, and what Kafka says of others, `{name}`
    being the key's.
    """

    def mark(parse: AnyParser) -> AnyParser:
        vars(parse).update(accepts=words, is_list=is_list, kafkas_sentence=kafkas_sentence)
        return parse

    return mark


def _kafkas_kind(parse: Callable[[str], Any]) -> str | None:
    """Return Kafka's sentence for a text that a parser of Kafka's types refuses; None for parsers of our own."""
    kinds: dict[Callable[[str], Any], str] = {
        parse_int: "Not a number of type LONG",
        parse_int32: "Not a number of type INT",
        parse_int16: "Not a number of type SHORT",
        parse_boolean: "Expected value to be either true or false",
        parse_double: "Not a number of type DOUBLE",
    }
    return kinds.get(parse)


def _number_text(value: float) -> str:
    """Return a number as Java prints it."""
    return double_text(value) if isinstance(value, float) else str(value)


def read_values(keys: Iterable[Key], texts: Mapping[str, str]) -> dict[str, Any]:
    """Read values by attribute name for every key; a required key without text is an error."""
    values = {}
    for key in keys:
        if key.name in texts:
            values[key.attribute] = key.read(texts[key.name])
        elif key.default is REQUIRED:
            raise ConfigError(f"{key.name} must be set: {key.meaning}")
        else:
            values[key.attribute] = key.default
    return values


class ByAttribute:
    """What `read_values` has read, each value by its attribute."""

    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None
