"""Records of a range as a file, streamed: as many as there are, read only as fast as the browser takes them.

No more is held than one window of a search (`search.py`). Each piece is read within the budget of reading, with what is
hidden now. The person's login and rights are looked at again before a piece is sent (`shell/web/streamed_files.py`),
and while none comes. A file that ends early is no whole answer: the connection breaks off, and the browser or `curl`
says so. What could not be read is named in the last line.
"""

import asyncio
import json
import logging
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import StreamingHttpResponse

from console.cluster.records.decoders import RecordDecoder
from console.cluster.records.json_lines import json_lines
from console.cluster.records.masked_source import source_for
from console.cluster.records.presenters import record_rows, titles
from console.cluster.records.query import RecordQuery
from console.cluster.records.reader_slots import SLOTS
from console.cluster.records.search import UNLIMITED, SearchReader
from console.kit.access.rights import reach_of
from console.kit.common.csv_table import csv_text
from console.kit.common.current_cluster import bound
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.records.interface import RecordView
from console.kit.live.person_socket import refusal_now
from console.state.clusters.models import Topic

logger = logging.getLogger(__name__)

FORMATS = {"jsonl": "application/x-ndjson; charset=utf-8", "csv": "text/csv; charset=utf-8"}
DEFAULT_FORMAT = "jsonl"
#: How long is read on for a person who logged out or lost the right, while nothing of it is sent.
RECHECK_SECONDS = 5.0
#: A browser that takes nothing for so long gives its slot to others.
STALL_SECONDS = 60.0
#: Letters after which a piece is sent.
PIECE_LENGTH = 256 * 1024
#: Schemas that are asked for in one turn.
_SCHEMA_LOOKUPS = 1_000


class ExportEndedError(Exception):
    """The export cannot be completed; the sentence says why."""


class ExportSlotError(Exception):
    """All readers are in use; the sentence names their users."""


def export_query(query: RecordQuery) -> RecordQuery:
    """Return the query of a file: oldest first, from the beginning if the query names no other place."""
    return replace(query, place="oldest" if query.place == "newest" else query.place, cursor=())


class Export:
    """The pieces of one file. Holds a slot of the person's readers from construction until `close`.

    Raises ExportSlotError, GatewayError, BadExpression on construction.
    """

    def __init__(self, request: UserRequest, topic: Topic, query: RecordQuery, form: str):
        self._person = request.user.pk
        if no_slot := SLOTS.take(self._person):
            raise ExportSlotError(no_slot)
        self._topic, self._query, self._form = topic.name, query, form
        self._scope = {"user": request.user, "session": request.session, "reach": reach_of(request.user)}
        self._lock, self._is_closed = threading.Lock(), False
        self._decoder = RecordDecoder(topic.name, seconds=math.inf, lookups=_SCHEMA_LOOKUPS)
        try:
            source = source_for(request.user, topic)
            self._reader = SearchReader(source, topic.name, topic.partition_count, query, UNLIMITED)
        except BaseException:
            SLOTS.give_back(self._person)
            raise

    def pieces(self) -> Iterator[str]:
        """Yield texts, empty ones while nothing has come. Raises ExportEndedError, GatewayError."""
        checked_s, is_over = time.monotonic(), False
        if self._form == "csv":
            yield csv_text([titles(self._query)])
        while not is_over:
            if time.monotonic() - checked_s >= RECHECK_SECONDS:
                checked_s = time.monotonic()
                if refusal_now(self._scope) is not None:
                    raise ExportEndedError("The login or the rights changed while records were exported.")
            with self._lock:
                if self._is_closed:
                    raise ExportEndedError(f"The browser took nothing for {STALL_SECONDS:g} s.")
                turn = self._reader.turn()
            is_over = bool(turn.ended)
            yield from self._texts_of(turn.records)
        if self._reader.left_out:
            yield self._incomplete(self._reader.left_out)

    def _texts_of(self, records: Sequence[RecordView]) -> Iterator[str]:
        """Yield at least one text. Unpacked data may be a hundred times its bytes: not all of it is held at once."""
        self._decoder.renew()
        if self._form == "csv":
            lines: Iterator[str] = (
                csv_text([row]) for row in record_rows(self._topic, records, self._query, self._decoder)
            )
        else:
            lines = json_lines(self._topic, records, self._decoder)
        piece: list[str] = []
        length = 0
        for line in lines:
            piece.append(line)
            length += len(line)
            if length >= PIECE_LENGTH:
                yield "".join(piece)
                piece, length = [], 0
        yield "".join(piece)

    def _incomplete(self, sentence: str) -> str:
        sentence = f"Incomplete: {sentence}"
        return csv_text([(sentence,)]) if self._form == "csv" else f"{json.dumps({'incomplete': sentence})}\n"

    def __del__(self) -> None:
        """Of a response that was neither sent nor closed."""
        if hasattr(self, "_reader"):
            self.close()

    def close(self) -> None:
        """Idempotent; from any thread, once the piece that is being read is there."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        try:
            self._reader.close()
        finally:
            SLOTS.give_back(self._person)


def export_response(request: UserRequest, topic: Topic, query: RecordQuery, form: str) -> StreamingHttpResponse:
    """Raises ExportSlotError, GatewayError, BadExpression before anything is sent."""
    query = export_query(query)
    export = Export(request, topic, query, form)
    take = bound(export.pieces().__next__)
    response = _ExportResponse(export, _body(request, take, export.close), content_type=FORMATS[form])
    name = f"records-{topic.name}{'-found' if query.search else ''}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"  # a proxy would read ahead of the browser
    return response


def _body(
    request: UserRequest, take: Callable[[], str], close: Callable[[], None]
) -> Iterator[str] | AsyncIterator[str]:
    """Yield the body; a HEAD request reads nothing."""
    if request.method == "HEAD":
        close()
        return iter(())
    return _stream(take, close) if isinstance(request, ASGIRequest) else _taken(take, close)


class _ExportResponse(StreamingHttpResponse):
    """Gives the slot back also if nothing of it was ever sent."""

    def __init__(self, export: Export, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self._export = export

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._export.close()


def _taken(take: Callable[[], str], close: Callable[[], None]) -> Iterator[str]:
    """As `_stream`, for who asks without an event loop."""
    try:
        while True:
            try:
                piece = take()
            except StopIteration:
                return
            if piece:
                yield piece
    finally:
        close()


async def _stream(take: Callable[[], str], close: Callable[[], None]) -> AsyncIterator[str]:
    """Read in the request's own thread, one piece ahead of the browser at most."""
    loop = asyncio.get_running_loop()
    try:
        while True:
            try:
                piece = await sync_to_async(_next_or_none)(take)
            except (ExportEndedError, GatewayError) as error:
                logger.warning("an export of records ended early: %s", error)
                raise
            if piece is None:
                return
            if piece:
                # Suspended here for as long as the browser takes nothing.
                stalled = loop.call_later(STALL_SECONDS, loop.run_in_executor, None, close)
                try:
                    yield piece
                finally:
                    stalled.cancel()
    finally:
        await asyncio.shield(sync_to_async(close)())


def _next_or_none(take: Callable[[], Any]) -> Any:
    """Return the next item or None: StopIteration cannot pass through a coroutine."""
    try:
        return take()
    except StopIteration:
        return None
