"""A table as CSV, streamed: the whole of what the page's filters choose, not only the page on screen.

A view asks `wants_csv(request)` after it has checked rights and read its filters, so a file never holds more than its
page. Cells that a spreadsheet would run as a formula begin with an apostrophe (OWASP, "CSV injection"), and every cell
is quoted: where the comma is the decimal sign spreadsheets split at semicolons.
"""

import csv
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from console.kit.common.current_cluster import bound_each
from console.kit.common.user_request import InnerRequest

#: No file is longer; the page says so where it matters.
ROWS_MAX = 100_000
_ROWS_PER_CHUNK = 500
#: Letters after which a chunk ends: a row may hold megabytes of records.
_CHUNK_LENGTH = 256 * 1024
#: What makes a spreadsheet read a text as a formula, full-width forms included; some of them trim what stands before.
_FORMULA = re.compile(r"[\t\r\n]|[\s\ufeff\u200b-\u200f\u2060\x01-\x1f]*[=+\-@＝＋－＠]")


def wants_csv(request: HttpRequest) -> bool:
    return request.GET.get("format") == "csv"


class CsvTable(HttpResponse):
    """The rows themselves, for who asks a page from within the process (`api/door.py`); unread."""

    def __init__(self, titles: Sequence[str], rows: Iterable[Sequence[object]], note: str = ""):
        """`note`: what a reader of the rows has to know of them."""
        super().__init__()
        self.titles, self.rows, self.note = titles, rows, note


def csv_response(
    request: HttpRequest, name: str, titles: Sequence[str], rows: Iterable[Sequence[object]]
) -> StreamingHttpResponse | CsvTable:
    """Return `rows` under `titles` as the file `name`.csv; read as the browser takes them, at most ROWS_MAX."""
    if isinstance(request, InnerRequest):
        return CsvTable(titles, rows)
    return file_response(request, f"{name}.csv", "text/csv; charset=utf-8", csv_chunks(titles, rows))


def file_response(request: HttpRequest, name: str, content_type: str, texts: Iterator[str]) -> StreamingHttpResponse:
    """Return `texts` as the file `name`, each made when the browser has taken those before it."""
    bound_texts = bound_each(texts)
    body = _read_in_thread(bound_texts) if isinstance(request, ASGIRequest) else bound_texts
    response = StreamingHttpResponse(body, content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


def csv_chunks(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    writer = csv.writer(_Echo(), quoting=csv.QUOTE_ALL)
    lines = (writer.writerow([cell(value) for value in row]) for row in chain([titles], islice(rows, ROWS_MAX)))
    chunk: list[str] = []
    length = 0
    for line in lines:
        chunk.append(line)
        length += len(line)
        if len(chunk) >= _ROWS_PER_CHUNK or length >= _CHUNK_LENGTH:
            yield "".join(chunk)
            chunk, length = [], 0
    if chunk:
        yield "".join(chunk)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return all of `rows` as CSV text."""
    writer = csv.writer(_Echo(), quoting=csv.QUOTE_ALL)
    return "".join(writer.writerow([cell(value) for value in row]) for row in rows)


def cell(value: object) -> object:
    """Return the value for a CSV cell: moments in ISO 8601, lists with spaces, mappings as name=value, None empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        value = " ".join(f"{name}={item}" for name, item in value.items())
    elif isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    text = str(value).replace("\0", "")
    return f"'{text}" if _FORMULA.match(text) else text


async def _read_in_thread(texts: Iterator[str]) -> AsyncIterator[str]:
    """Yield one chunk at a time, read in the request's own thread, where its database connection is."""
    while (chunk := await sync_to_async(lambda: next(texts, None))()) is not None:
        yield chunk


class _Echo:
    """csv writes here; the line comes back as the result of `writerow`."""

    def write(self, line: str) -> str:
        return line
