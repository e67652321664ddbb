"""org.apache.kafka.connect.storage.SimpleHeaderConverter: values as texts; what is read is what the text looks like."""

from typing import Any

from broker.connect.api import DataError, HeaderConverter, Schema
from broker.connect.api.schema import BYTES
from broker.connect.converters.value_texts import parse_string, to_text


class SimpleHeaderConverter(HeaderConverter):
    def from_connect_header(self, topic: str, key: str, schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        try:
            return to_text(schema, value).encode()
        except UnicodeError as error:
            raise DataError(f"Header {key} is no text: {error}") from None

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> tuple[Schema | None, Any]:
        """Parse a header's value; what is no UTF-8 stays bytes."""
        if data is None:
            return None, None
        try:
            return parse_string(data.decode())
        except UnicodeError:
            return BYTES, data
