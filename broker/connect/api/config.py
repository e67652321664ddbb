"""Kafka's ConfigDef: keys as data, from which parsing, validation per key, forms and documentation come."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from broker.common.java.numbers import parse_double, parse_integer, trim
from broker.connect.api.errors import ConfigError


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


#: Default of a key that must be given.
REQUIRED: Any = _Required()


class ConfigType(StrEnum):
    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    INT = "INT"
    SHORT = "SHORT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"
    CLASS = "CLASS"
    PASSWORD = "PASSWORD"


class Importance(StrEnum):
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(StrEnum):
    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


class Password:
    """A secret: only `.value` tells it, never a log or an error."""

    __slots__ = ("value",)

    def __init__(self, value: str):
        self.value = value

    def __repr__(self) -> str:
        return "[hidden]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)


#: Looks at a parsed value that is not None; raises ConfigError if it may not be.
Validator = Callable[[str, Any], None]


class Recommender(Protocol):
    """What a form may offer for a key, and whether it shows the key at all, given the values parsed so far."""

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]: ...

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool: ...


@dataclass(frozen=True)
class ConfigKey:
    """One key. A CLASS is parsed to its name (a text); a LIST to a list of texts; a PASSWORD to a `Password`."""

    name: str
    type: ConfigType = ConfigType.STRING
    default: Any = REQUIRED
    importance: Importance = Importance.MEDIUM
    documentation: str = ""
    validator: Validator | None = None
    group: str | None = None
    #: Its place in the group; -1: none.
    order: int = -1
    width: Width = Width.NONE
    display_name: str | None = None
    dependents: tuple[str, ...] = ()
    recommender: Recommender | None = None

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED


@dataclass
class ConfigValue:
    """What validation found of one key; `value` is parsed, None if it could not be."""

    name: str
    value: Any = None
    recommended_values: list[Any] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    visible: bool = True


class ConfigDef:
    """Keys in the order in which a form shows them."""

    def __init__(self, *keys: ConfigKey):
        self.keys: dict[str, ConfigKey] = {key.name: key for key in keys}

    def __add__(self, other: "ConfigDef") -> "ConfigDef":
        """Return both definitions together; a key of `other` replaces one of the same name."""
        return ConfigDef(*(self.keys | other.keys).values())

    def parse(self, props: Mapping[str, str | None]) -> dict[str, Any]:
        """Return the value of every declared key by its name; keys that are not declared are ignored. Raises
        ConfigError.
        """
        return {key.name: _checked(key, props) for key in self.keys.values()}

    def validate(self, props: Mapping[str, str | None]) -> list[ConfigValue]:
        """Return one ConfigValue for each declared key; never raises."""
        values = [self._value_of(key, props) for key in self.keys.values()]
        parsed = {value.name: value.value for value in values}
        for value in values:
            recommender = self.keys[value.name].recommender
            if recommender is not None:
                value.recommended_values = list(recommender.valid_values(value.name, parsed))
                value.visible = recommender.visible(value.name, parsed)
        return values

    @staticmethod
    def _value_of(key: ConfigKey, props: Mapping[str, str | None]) -> ConfigValue:
        """Return the validated value; a wrong one is shown beside its error."""
        value = None
        try:
            value = _parsed(key, props)
            _require_valid(key, value)
        except ConfigError as error:
            return ConfigValue(key.name, value, errors=[f"{error}"])
        return ConfigValue(key.name, value)


def _checked(key: ConfigKey, props: Mapping[str, str | None]) -> Any:
    value = _parsed(key, props)
    _require_valid(key, value)
    return value


def _parsed(key: ConfigKey, props: Mapping[str, str | None]) -> Any:
    if key.name in props:
        return parse_value(key.name, props[key.name], key.type)
    if key.is_required:
        raise ConfigError(key.name, f'Missing required configuration "{key.name}" which has no default value.')
    return key.default


def _require_valid(key: ConfigKey, value: Any) -> None:
    if key.validator is not None and value is not None:
        key.validator(key.name, value)
    elif value is None and key.is_required:
        raise ConfigError(key.name, f"Invalid value null for configuration {key.name}: it is required")


#: What String.split takes for blanks: ASCII's.
_BLANKS = " \t\n\v\f\r"
_INTEGER_BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


def parse_value(name: str, text: Any, kind: ConfigType) -> Any:
    """Parse a text as a value of `kind`, as Kafka's ConfigDef.parseType. Raises ConfigError."""
    if text is None:
        return None
    trimmed = trim(f"{text}")
    if kind in (ConfigType.STRING, ConfigType.CLASS):
        return trimmed
    if kind is ConfigType.PASSWORD:
        return Password(trimmed)
    if kind is ConfigType.LIST:
        return [part.strip(_BLANKS) for part in trimmed.split(",")] if trimmed else []
    try:
        return _BY_KIND[kind](trimmed, kind)
    except ValueError:
        is_boolean = kind is ConfigType.BOOLEAN
        wanted = "Expected value to be either true or false" if is_boolean else f"Not a number of type {kind}"
        raise ConfigError(name, f"Invalid value {trimmed} for configuration {name}: {wanted}") from None


def _integer(text: str, kind: ConfigType) -> int:
    return parse_integer(text, _INTEGER_BITS[kind])


def _boolean(text: str, _kind: ConfigType) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_BY_KIND: dict[ConfigType, Callable[[str, ConfigType], Any]] = {
    ConfigType.BOOLEAN: _boolean,
    ConfigType.SHORT: _integer,
    ConfigType.INT: _integer,
    ConfigType.LONG: _integer,
    ConfigType.DOUBLE: lambda text, _kind: parse_double(text),
}


def between(at_least: float | None = None, at_most: float | None = None) -> Validator:
    """Return a validator of numbers from `at_least` to `at_most`, both included."""

    def check(name: str, value: Any) -> None:
        if at_least is not None and value < at_least:
            raise ConfigError(
                name, f"Invalid value {value} for configuration {name}: Value must be at least {at_least}"
            )
        if at_most is not None and value > at_most:
            raise ConfigError(
                name, f"Invalid value {value} for configuration {name}: Value must be no more than {at_most}"
            )

    return check


class OneOf:
    """One of these texts, upper or lower case unless `is_exact`; a validator, and what a form offers."""

    def __init__(self, *values: str, is_exact: bool = False):
        self.values, self._is_exact = values, is_exact

    def __call__(self, name: str, value: Any) -> None:
        known = self.values if self._is_exact else [known.lower() for known in self.values]
        if (value if self._is_exact else value.lower()) not in known:
            how = "" if self._is_exact else " (case insensitive)"
            wanted = f"String must be one of{how}: {', '.join(self.values)}"
            raise ConfigError(name, f"Invalid value {value} for configuration {name}: {wanted}")

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        return self.values

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        return True


def not_empty(name: str, value: Any) -> None:
    """Validate that a text or list is not empty."""
    if not value:
        reason = "Empty list" if isinstance(value, list) else "String must be non-empty"
        raise ConfigError(name, f"Invalid value {value or ''} for configuration {name}: {reason}")
