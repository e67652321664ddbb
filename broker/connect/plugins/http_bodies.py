"""Bodies and headers of the HTTP sink's requests."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from broker.connect.api import ConfigError, DataError, SinkRecord
from broker.connect.converters.json_values import JsonValues, schemaless_to_json

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*([\x20-\x7e\x80-\xff]*)")
#: What the client, or another setting, says itself.
_TAKEN = frozenset({"authorization", "connection", "content-length", "host", "transfer-encoding"})


@dataclass(frozen=True)
class BodyForm:
    """How values are joined. With `is_text`, texts and bytes stand as they are."""

    prefix: bytes
    separator: bytes
    suffix: bytes
    is_text: bool = False

    @property
    def content_type(self) -> str:
        return "text/plain; charset=utf-8" if self.is_text else "application/json"

    def encode(self, record: SinkRecord) -> bytes:
        """Raises DataError."""
        value = record.value
        if self.is_text and isinstance(value, str | bytes | bytearray):
            return value.encode() if isinstance(value, str) else bytes(value)
        return _json_of(record)

    def joined(self, values: Sequence[bytes]) -> bytes:
        return self.prefix + self.separator.join(values) + self.suffix


def body_form(values: Mapping[str, Any]) -> BodyForm:
    """Return the form that the sink's settings describe."""
    if values["request.body.format"].lower() == "string":
        prefix, separator, suffix = (_unescaped(values[f"batch.{part}"]) for part in ("prefix", "separator", "suffix"))
        return BodyForm(prefix, separator, suffix, is_text=True)
    return BodyForm(b"[", b",", b"]") if values["batch.json.as.array"] else BodyForm(b"", b",", b"")


def _unescaped(text: str) -> bytes:
    r"""Return the text with \n and \t as the characters they stand for: blanks around a setting are cut off."""
    return text.replace("\\n", "\n").replace("\\t", "\t").encode()


def headers_of(name: str, text: str) -> dict[str, str]:
    """Return the headers of lines `Name: value`, names in lower case.

    Raises ConfigError for the key `name`, without the value.
    """
    headers = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        header = _HEADER.fullmatch(line)
        if header is None:
            raise ConfigError(name, f"Invalid value for configuration {name}: a header is `Name: value`")
        if header[1].lower() in _TAKEN:
            other = "; use http.authorization" if header[1].lower() == "authorization" else ""
            raise ConfigError(name, f"Invalid value for configuration {name}: {header[1]} cannot be set here{other}")
        headers[header[1].lower()] = header[2].strip()
    return headers


def are_headers(name: str, value: str) -> None:
    headers_of(name, value)


def _json_of(record: SinkRecord) -> bytes:
    schema, value = record.value_schema, record.value
    try:
        return orjson.dumps(schemaless_to_json(value) if schema is None else JsonValues().to_json(schema, value))
    except (TypeError, ValueError) as error:
        raise DataError(f"No JSON: {error}") from None
