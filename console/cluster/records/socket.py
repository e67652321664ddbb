"""A search or a live tail, over a websocket of its own, opened by the messages tab.

The server says `{began, cursor, outlook}` when it has found the place, then sends `{rows, status, ended, error,
cursor, summary, offers}` with escaped HTML. The page answers `{"taken": 1}` to each of those, and `{"pause":
true|false}` when it likes. Without an answer nothing more is read. A tail that dropped is asked for again with the last
cursor, and goes on there.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, TypeAlias, TypeVar

from channels.db import database_sync_to_async
from django.core.exceptions import PermissionDenied
from django.http import Http404, QueryDict
from django.template.loader import render_to_string

from console.cluster.records.actions import count_reading
from console.cluster.records.expression import BadExpression
from console.cluster.records.masked_source import source_for
from console.cluster.records.presenters import shown_records
from console.cluster.records.query import RecordQuery
from console.cluster.records.reader_slots import READERS_MAX, SLOTS
from console.cluster.records.reading import RecordSource
from console.cluster.records.search import SearchReader
from console.cluster.records.tail import TailReader
from console.cluster.records.turns import ReadTurn, TurnReader
from console.kit.audit.refusals import REFUSED, count_quietly
from console.kit.common.current_cluster import bound
from console.kit.common.time_range import RANGE_NAMES
from console.kit.gateway.errors import GatewayError
from console.kit.live import groups
from console.kit.live.person_socket import CLOSE_FORBIDDEN, CLOSE_UNKNOWN_PAGE, BrowserDisconnectedError, PersonSocket
from console.state.clusters.access import access_records
from console.state.clusters.models import Topic

logger = logging.getLogger(__name__)

#: Sent and not yet taken: enough that the way there and back costs no time.
UNTAKEN_MAX = 2
#: A page that takes nothing for so long, and has not paused, has gone.
SILENCE_SECONDS = 60
#: A page that was paused for so long gives its slot to others; it says so, and can be started again.
PAUSE_SECONDS = 120
PAUSED_TOO_LONG = "paused for too long"
_Result = TypeVar("_Result")
#: Makes a reader of a source, a topic, its number of partitions and a query. Raises GatewayError, BadExpression.
_ReaderOf: TypeAlias = Callable[[RecordSource, str, int, RecordQuery], TurnReader]
_THREADS = ThreadPoolExecutor(READERS_MAX, thread_name_prefix="records")


class RecordsConsumer(PersonSocket):
    """`/ws/records/?topic=<name>&mode=search|tail&…`, the rest as in the address of the messages tab."""

    #: Records are sent no longer to a person without the right, in a search as in a live tail.
    recheck_seconds: ClassVar[float] = 2.0
    readers: ClassVar[dict[str, _ReaderOf]] = {"search": SearchReader, "tail": TailReader}

    def __init__(self, *arguments: object, **named: object):
        super().__init__(*arguments, **named)
        self.may_read = asyncio.Event()
        self.may_read.set()
        self.untaken = 0
        self.has_room = asyncio.Event()
        self.has_room.set()

    async def connect(self) -> None:
        await self.accept()
        parameters = QueryDict(self.scope["query_string"])
        mode, refusal = parameters.get("mode", ""), await self.refusal()
        if refusal is None and mode not in self.readers:
            refusal = CLOSE_UNKNOWN_PAGE
        topic = await self.find_topic(parameters.get("topic", "")) if refusal is None else refusal
        if isinstance(topic, int):
            await self.end(topic)
            return
        await self.subscribe(groups.person(self.scope["user"].pk))
        self.begin(self.run(mode, topic, RecordQuery.parse(parameters)))

    async def find_topic(self, name: str) -> Topic | int:
        """Return the topic, or the code to close with where the person may not read it or there is none."""
        user = self.scope["user"]
        try:
            return await database_sync_to_async(access_records)(user, name)
        except PermissionDenied:
            await database_sync_to_async(count_quietly)(user, REFUSED, "topic", name)
            return CLOSE_FORBIDDEN
        except Http404:
            return CLOSE_UNKNOWN_PAGE

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            document = json.loads(text_data or "")
        except (ValueError, RecursionError):
            return
        if not isinstance(document, dict):
            return
        if document.get("pause") is True:
            self.may_read.clear()
        elif document.get("pause") is False:
            self.may_read.set()
        if document.get("taken"):
            self.untaken = max(0, self.untaken - 1)
            self.has_room.set()

    async def run(self, mode: str, topic: Topic, query: RecordQuery) -> None:
        person = self.scope["user"].pk
        if no_slot := SLOTS.take(person):
            await self.say(error=no_slot, ended="not started")
            return
        try:
            partitions = range(topic.partition_count) if query.partition is None else (query.partition,)
            await database_sync_to_async(count_reading)(self.scope["user"], topic, partitions)
            await self.play(self.readers[mode], topic, query)
        except GatewayError as error:
            await self.say(error=str(error), ended="the cluster did not answer")
        except BadExpression as error:
            await self.say(error=str(error), ended="not searched on")
        except TimeoutError:
            await self.end()
        except BrowserDisconnectedError:
            raise
        except Exception:
            logger.exception("reading %s failed", topic.name)
            await self.say(error="The console could not read on; its log says more.", ended="failed")
        finally:
            SLOTS.give_back(person)

    async def play(self, reader_of: _ReaderOf, topic: Topic, query: RecordQuery) -> None:
        source = await database_sync_to_async(source_for)(self.scope["user"], topic)
        reader: TurnReader = await self.in_thread(reader_of, source, topic.name, topic.partition_count, query)
        in_use = threading.Lock()
        await self.say(began="yes", cursor=reader.cursor, outlook=reader.outlook)
        try:
            is_over = False
            while not is_over:
                if not await self.goes_on():
                    await self.say(ended=PAUSED_TOO_LONG)
                    return
                turn = await self.in_thread(alone, in_use, reader.turn)
                is_over = bool(turn.ended)
                if turn.records or turn.progress or turn.skipped or turn.waits or is_over:
                    await self.show(topic, query, turn)
        finally:
            await asyncio.shield(self.in_thread(alone, in_use, reader.close))

    async def goes_on(self) -> bool:
        """Wait until the page is no longer paused; False if that takes too long."""
        try:
            async with asyncio.timeout(PAUSE_SECONDS):
                await self.may_read.wait()
        except TimeoutError:
            return False
        return True

    async def show(self, topic: Topic, query: RecordQuery, turn: ReadTurn) -> None:
        await self.room()
        context = {
            "topic": topic,
            "query": query,
            "turn": turn,
            "records": shown_records(topic.name, turn.records, query),
        }
        rows = await self.in_thread(render_to_string, "records/partials/rows.html", context)
        status = await self.in_thread(render_to_string, "records/partials/progress.html", context)
        offers = await self.in_thread(self.continue_links, turn)
        await self.say(
            rows=rows, status=status, ended=turn.ended, cursor=turn.cursor, summary=turn.summary, offers=offers
        )

    def continue_links(self, turn: ReadTurn) -> str:
        """Return links that continue the search; each is an address of the messages tab."""
        offers = []
        for offer in turn.offers:
            parameters = QueryDict(self.scope["query_string"], mutable=True)
            beyond = (*RANGE_NAMES, "offset") if offer.is_beyond else ()
            for name in ("topic", "mode", "last", "continued", *beyond):
                parameters.pop(name, None)
            if offer.is_continued:
                parameters["continued"] = "on"
            parameters["place"], parameters["cursor"] = offer.place, offer.cursor
            offers.append((offer, parameters.urlencode()))
        return render_to_string("records/partials/offers.html", {"offers": offers})

    async def room(self) -> None:
        """Wait until the page has taken earlier messages; a page that is silent for too long is disconnected."""
        async with asyncio.timeout(SILENCE_SECONDS):
            await self.has_room.wait()
        self.untaken += 1
        if self.untaken >= UNTAKEN_MAX:
            self.has_room.clear()

    async def say(self, **fields: str) -> None:
        await self.send(text_data=json.dumps(fields))

    @staticmethod
    async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(_THREADS, bound(function), *arguments)


def alone(in_use: threading.Lock, function: Callable[[], _Result]) -> _Result:
    """Run the function alone: a reader is closed only after a read in another thread has ended."""
    with in_use:
        return function()
