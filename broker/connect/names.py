"""What may be called a connector.

Kafka's rule (`NonEmptyStringWithoutControlChars`) refuses nothing but the empty name and ISO control characters. Here
characters of format are refused as well, such as U+202E, which turns what follows around wherever the name is shown,
and line and paragraph separators; so are `.` and `..`, which clients of HTTP take out of an address. A connector that
has such a name already runs on, and can be deleted.
"""

from typing import Any
from unicodedata import category

from broker.connect.api import ConfigError

#: Control and format characters, surrogates, line and paragraph separators.
_REFUSED_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def objection_to_name(name: str) -> str | None:
    """Return why the connector may not be called so, None if it may."""
    if not name:
        return "a connector's name must not be empty"
    if name in (".", ".."):
        return "a connector's name must not be . or .., which are no part of an address; choose another name"
    refused = next((letter for letter in name if category(letter) in _REFUSED_CATEGORIES), None)
    if refused is None:
        return None
    return f"a connector's name must not have control or format characters, as U+{ord(refused):04X} is; leave it out"


def connector_name(key: str, value: Any) -> None:
    """Raise ConfigError unless `value` may be a connector's name."""
    if objection := objection_to_name(value or ""):
        raise ConfigError(key, f"Invalid value for configuration {key}: {objection}")
