"""What is put onto every answer of REST (`response.http.headers.config`, KIP-577), and how that is written."""

import csv
import re
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import NamedTuple

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from broker.common.errors import StartupError

KEY = "response.http.headers.config"
_RULE = re.compile(r"(?P<action>set|add|setDate|addDate) +(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+): *(?P<value>[ -~]*)")


class HeaderRule(NamedTuple):
    is_added: bool
    name: str
    #: Milliseconds from now, if it is a date.
    value: str | int


def read_rules(text: str) -> tuple[HeaderRule, ...]:
    """`action name: value, …`; one with a comma in it stands in double quotes. Raises StartupError."""
    try:
        listed = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise StartupError(f"{KEY} is no list: {error}.") from None
    return tuple(_rule(name.strip()) for name in listed if name.strip())


def _rule(text: str) -> HeaderRule:
    found = _RULE.fullmatch(text)
    if found is None:
        raise StartupError(f"{KEY}: {text!r} must be set, add, setDate or addDate, a name, a colon and a value.")
    value: str | int = found["value"]
    if found["action"].endswith("Date"):
        if not re.fullmatch(r"-?[0-9]{1,15}", found["value"]):
            raise StartupError(f"{KEY}: {text!r} must say how many milliseconds from now.")
        value = int(found["value"])
    return HeaderRule(found["action"].startswith("add"), found["name"], value)


class WithHeaders:
    def __init__(self, app: ASGIApp, rules: tuple[HeaderRule, ...], now_s: Callable[[], float] = time.time):
        self._app, self._rules, self._now_s = app, rules, now_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for rule in self._rules:
                    self._put(headers, rule)
            await send(message)

        await self._app(scope, receive, sent)

    def _put(self, headers: MutableHeaders, rule: HeaderRule) -> None:
        value = rule.value
        if isinstance(value, int):
            value = formatdate(self._now_s() + value / 1000, usegmt=True)
        if rule.is_added:
            headers.append(rule.name, value)
        else:
            headers[rule.name] = value
