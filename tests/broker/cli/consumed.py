"""Records as a consumer hands them to a formatter."""

from dataclasses import dataclass
from typing import Any


@dataclass
class Consumed:
    value_: bytes | None = b"v"
    key_: bytes | None = None
    headers_: Any = None
    timestamp_: tuple[int, int] = (1, 1795315839554)

    def topic(self):
        return "t"

    def partition(self):
        return 0

    def offset(self):
        return 9

    def timestamp(self):
        return self.timestamp_

    def headers(self):
        return self.headers_

    def key(self):
        return self.key_

    def value(self):
        return self.value_
