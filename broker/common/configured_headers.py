"""Puts the operator's headers into every answer of a REST server, see `header_rules.py`."""

import time
from collections.abc import Callable
from email.utils import formatdate

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from broker.common.header_rules import HeaderRule


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
