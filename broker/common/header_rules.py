"""Headers that the operator wants in every answer of a REST server: `response.http.headers.config` (KIP-577)."""

import csv
import re
from typing import NamedTuple

from broker.common.errors import StartupError

KEY = "response.http.headers.config"
_RULE = re.compile(r"(?P<action>set|add|setDate|addDate) +(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+): *(?P<value>[ -~]*)")


class HeaderRule(NamedTuple):
    is_added: bool
    name: str
    #: Milliseconds from now, if it is a date.
    value: str | int


def read_rules(text: str) -> tuple[HeaderRule, ...]:
    """Parse `action name: value, …`; one with a comma in it stands in double quotes. Raises StartupError."""
    try:
        listed = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise StartupError(f"{KEY} is no list: {error}.") from None
    return tuple(_rule(name.strip()) for name in listed if name.strip())


def _rule(text: str) -> HeaderRule:
    match = _RULE.fullmatch(text)
    if match is None:
        raise StartupError(f"{KEY}: {text!r} must be set, add, setDate or addDate, a name, a colon and a value.")
    value: str | int = match["value"]
    if match["action"].endswith("Date"):
        if not re.fullmatch(r"-?[0-9]{1,15}", match["value"]):
            raise StartupError(f"{KEY}: {text!r} must say how many milliseconds from now.")
        value = int(match["value"])
    return HeaderRule(match["action"].startswith("add"), match["name"], value)
