"""Records as JSON lines, for programs: one object a line, and nothing of a record lost.

A key or value is decoded and unpacked as the page shows it. What is JSON stands there as JSON, letter by letter; other
text as a string; bytes that are no text as `{"base64": …}`; a null as null.
"""

import base64
import json
from collections.abc import Iterable, Iterator

from django.http import HttpRequest, StreamingHttpResponse

from console.cluster.records.decoders import RecordDecoder
from console.cluster.records.json_layout import is_document, layout
from console.cluster.records.text import plain_bytes
from console.kit.common.csv_table import file_response
from console.kit.gateway.records.interface import RecordView


def json_lines_response(
    request: HttpRequest, name: str, topic: str, records: Iterable[RecordView]
) -> StreamingHttpResponse:
    """Stream one line at a time: unpacked, a few kilobytes of a record may be megabytes."""
    content_type = "application/x-ndjson; charset=utf-8"
    return file_response(request, f"{name}.jsonl", content_type, json_lines(topic, records))


def json_lines(topic: str, records: Iterable[RecordView], decoder: RecordDecoder | None = None) -> Iterator[str]:
    """Yield JSON lines. `decoder`: one with more time than a page has; None: a page's."""
    decoder = decoder or RecordDecoder(topic)
    for record in records:
        headers = [f"[{_text(name)}, {_json(value)}]" for name, value in record.headers]
        yield (
            f'{{"partition": {record.partition}, "offset": {record.offset}, "timestamp": {_number(record.at_ms)}, '
            f'"key": {_decoded(decoder, "key", record.key)}, "value": {_decoded(decoder, "value", record.value)}, '
            f'"headers": [{", ".join(headers)}]}}\n'
        )


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _decoded(decoder: RecordDecoder, part: str, data: bytes | None) -> str:
    decoded = decoder.decode(part, data)
    if decoded is not None and decoded.text:
        return _json(decoded.text.encode(errors="replace"))
    return _json(plain_bytes(data) if data and decoded is None else data)


def _json(data: bytes | None) -> str:
    if data is None:
        return "null"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return json.dumps({"base64": base64.b64encode(data).decode()})
    return "".join(line.text for line in layout(text)) if is_document(text) else _text(text)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
