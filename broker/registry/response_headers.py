"""`response.http.headers.config`: headers that the operator wants in every answer, as Confluent's servers take them."""

import csv
import re
import time
from email.utils import formatdate
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ENTRY = re.compile(r"(set|add|setDate|addDate)\s+([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*:\s*([\x20-\x7e]*)")


class ConfiguredHeader(NamedTuple):
    """`replaces`: other headers of the name go. `is_date`: the value is milliseconds from now."""

    name: bytes
    value: str
    replaces: bool
    is_date: bool

    def rendered(self) -> bytes:
        if self.is_date:
            return formatdate(time.time() + int(self.value) / 1000, usegmt=True).encode()
        return self.value.encode()


def read_headers(text: str) -> tuple[ConfiguredHeader, ...]:
    """Return the headers of `action name:value, …`; an entry with a comma stands in quotes. ValueError for another."""
    rows = csv.reader([text], skipinitialspace=True, strict=True)
    try:
        entries = [entry.strip() for row in rows for entry in row]
    except csv.Error as error:
        raise ValueError(str(error)) from None
    return tuple(_header(entry) for entry in entries if entry)


def _header(entry: str) -> ConfiguredHeader:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise ValueError(f"{entry!r} is no `set|add|setDate|addDate name:value`")
    action, name, value = match.groups()
    is_date = action.endswith("Date")
    if is_date and not re.fullmatch(r"-?\d{1,15}", value.strip()):
        raise ValueError(f"{entry!r} has no number of milliseconds")
    return ConfiguredHeader(name.lower().encode(), value.strip(), action.startswith("set"), is_date)


class WithHeaders:
    """The application with these headers in each of its answers."""

    def __init__(self, app: ASGIApp, headers: tuple[ConfiguredHeader, ...]):
        self._app, self._headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": self._with(list(message.get("headers", ())))}
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _with(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        for header in self._headers:
            if header.replaces:
                headers = [(name, value) for name, value in headers if name.lower() != header.name]
            headers.append((header.name, header.rendered()))
        return headers
