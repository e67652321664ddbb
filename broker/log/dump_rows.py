"""A line of what is in a file: names and values, as Kafka's DumpLogSegments writes them, or for a program."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

#: Of Java's OptionalLong.
_OPTIONAL = ("deleteHorizonMs", "currentTxnFirstOffset")


class DumpRow(dict[str, Any]):
    """`str` of it is Kafka's text; as a mapping it can be written as JSON."""

    def __init__(self, fields: Mapping[str, Any] = MappingProxyType({}), **named: Any):
        super().__init__(fields, **named)
        #: Stands before Kafka's text.
        self.prefix = ""
        self._sentence = ""

    @classmethod
    def saying(cls, sentence: str, **named: Any) -> "DumpRow":
        """Return the row with a sentence as its text."""
        row = cls(**named)
        row._sentence = sentence
        return row

    def __str__(self) -> str:
        return self._sentence or self.prefix + " ".join(f"{name}: {_text(name, value)}" for name, value in self.items())


def _text(name: str, value: Any) -> str:
    if name in _OPTIONAL:
        return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"[{','.join(value)}]" if isinstance(value, list) else str(value)
