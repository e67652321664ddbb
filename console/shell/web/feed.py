"""One listener of a web process for all its pages: takes what the collector says of changed rows, renders those that
are shown, once however many browsers show them, and gives each page its own.

A page is told to fetch itself where rows do not help: the list has others now, or something was missed. Many pages are
told so one after the other, so that the same news does not bring every browser back at one time.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from console.kit.common.background import end_tasks
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import current_cluster
from console.kit.features.listed import features
from console.kit.live import groups
from console.kit.live.changes import RowsChanged
from console.kit.live.push import resync_html
from console.kit.live.rows import Parts
from console.shell.web.shown_rows import render_rows
from console.shell.web.watched import Key, LivePage, PageState, WatchedRows

logger = logging.getLogger(__name__)

#: Between two pages that are told to fetch themselves: a page costs a few tens of milliseconds.
TURN_SECONDS = 0.2
#: A list sorted by figures that change comes into order again after this long.
ORDER_SECONDS = 10.0
#: A row that changed this recently is sent to a page that begins to show it: it may have been drawn just before.
RECENT_SECONDS = 10.0
RETRY_SECONDS = 1.0
_ROWS_OF_LIST = {page.name: page.sorted_rows for feature in features() for page in feature.pushed_pages}


class Feed:
    """Feed of one event loop and one cluster, whose first page begins it. It listens while there is a page."""

    def __init__(self) -> None:
        self._watched = WatchedRows()
        self._numbers: dict[str, int] = {}
        self._recent: deque[tuple[float, Mapping[str, frozenset[int]]]] = deque()
        #: Pages to be told to fetch themselves, in their order; and when each was last told, or joined.
        self._due: dict[LivePage, None] = {}
        self._told_at: dict[LivePage, float] = {}
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []

    async def join(self, page: LivePage) -> None:
        """Join, so that no later change is missed."""
        async with self._lock:
            self._watched.show(page, PageState())
            self._told_at[page] = _now()
            if not self._tasks:
                channel = await self._subscribe()
                self._tasks = [asyncio.create_task(self._listen(channel)), asyncio.create_task(self._send_in_turn())]

    async def leave(self, page: LivePage) -> None:
        async with self._lock:
            self._watched.remove(page)
            self._due.pop(page, None)
            self._told_at.pop(page, None)
            if not self._watched.shown:
                tasks, self._tasks = self._tasks, []
                self._numbers.clear()
                self._recent.clear()
                await end_tasks(tasks)

    async def show(self, page: LivePage, shown: PageState) -> None:
        """Set what `page` shows from now on, as just rendered."""
        added = self._watched.show(page, shown)
        self._forget_old()
        recent = {(kind, key) for _, rows in self._recent for kind, keys in rows.items() for key in keys}
        if missed := added & recent:
            await self._send({page: missed}, {})

    async def take(self, message: RowsChanged) -> None:
        """Take a message of the collector."""
        tier, number = message["tier"], message["number"]
        known, self._numbers[tier] = self._numbers.get(tier), number
        if known is not None and number != known + 1:
            self._mark_due(self._watched.shown)
        rows = {kind: frozenset(keys) for kind, keys in message["rows"].items()}
        self._forget_old()
        self._recent.append((_now(), rows))
        pages = set(message["pages"])
        self._mark_due(
            [page for page in self._watched.shown if page.name in pages or self._is_out_of_order(page, rows)]
        )
        await self._send(self._watched.showing(rows), dict(message["partitions"]))

    def _is_out_of_order(self, page: LivePage, rows: Mapping[str, frozenset[int]]) -> bool:
        if not self._watched.shown[page].moves or not rows.get(_ROWS_OF_LIST.get(page.name, "")):
            return False
        return _now() - self._told_at[page] >= ORDER_SECONDS

    async def _send(self, wanted: Mapping[LivePage, AbstractSet[Key]], partitions: Mapping[int, list[int]]) -> None:
        for reach in {page.reach for page in wanted}:
            pages = {page: keys for page, keys in wanted.items() if page.reach == reach}
            rows = await database_sync_to_async(render_rows)(set().union(*pages.values()), partitions, reach)
            for page, keys in pages.items():
                self._send_one(page, {key: rows[key] for key in sorted(keys) if key in rows})

    def _send_one(self, page: LivePage, rows: Mapping[Key, Parts]) -> None:
        if any(not parts for parts in rows.values()):
            self._mark_due([page])
            return
        by_kind: dict[str, list[Parts]] = {}
        for (kind, _), parts in rows.items():
            by_kind.setdefault(kind, []).append(parts)
        for several in by_kind.values():
            for part in zip(*several, strict=True):
                page.put("".join(part))

    def _mark_due(self, pages: Iterable[LivePage]) -> None:
        for page in pages:
            self._due.setdefault(page)
            self._told_at[page] = _now()
        self._wake.set()

    async def _send_in_turn(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._due:
                page = next(iter(self._due))
                del self._due[page]
                page.put(resync_html(now_ms()))
                await asyncio.sleep(TURN_SECONDS)

    async def _subscribe(self) -> str:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        await layer.group_add(groups.on_layer(groups.CHANGES), channel)
        return channel

    async def _listen(self, channel: str) -> None:
        """Listen to the channel layer; after a failure it is asked again, and the missed messages show as a gap."""
        while True:
            try:
                await self.take(await get_channel_layer().receive(channel))
            except Exception:
                logger.exception("changes could not be taken")
                await asyncio.sleep(RETRY_SECONDS)
                self._mark_due(self._watched.shown)

    def _forget_old(self) -> None:
        while self._recent and self._recent[0][0] < _now() - RECENT_SECONDS:
            self._recent.popleft()


def _now() -> float:
    return asyncio.get_running_loop().time()


_feeds: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Feed]] = WeakKeyDictionary()


def feed_here() -> Feed:
    """Return the feed of the running event loop and the current cluster: for each one of a web process."""
    return _feeds.setdefault(asyncio.get_running_loop(), {}).setdefault(current_cluster(), Feed())
