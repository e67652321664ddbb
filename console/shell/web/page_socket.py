"""One websocket per open page: it says what it shows and receives that rendered, nothing else.

Rows come from the feed of this process (console/shell/web/feed.py), everything else through groups of the channel
layer.

A slow reader never holds memory: what waits for it is bounded, and at the bound everything waiting is thrown away
and the page is told to fetch itself again.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Mapping
from urllib.parse import parse_qs
from weakref import WeakValueDictionary

from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import CLUSTER, Right
from console.kit.common.clock import now_ms
from console.kit.features.listed import features
from console.kit.live import groups
from console.kit.live.person_socket import CLOSE_FORBIDDEN, CLOSE_NOT_KNOWN, CLOSE_UNKNOWN_PAGE, PersonSocket
from console.kit.live.push import PushedHtml, resync_html
from console.shell.web.feed import feed_here
from console.shell.web.marks_board import marks_here
from console.shell.web.watched import PageState

logger = logging.getLogger(__name__)

KEEPALIVE_SECONDS = 10
#: Rendered partials that may wait for one browser, about a minute of a busy page.
WAITING_MAX = 64
#: Who may not see everything is told at most this often that there is news.
HINT_SECONDS = 2
#: What a page shows is taken at most this often.
SHOWN_SECONDS = 0.5
#: After counts of the sidebar that could not be drawn.
MARKS_AGAIN_SECONDS = 5.0

_PAGES = {page.name: page for feature in features() for page in feature.pushed_pages}
_NEWS_PAGES = [page for page in _PAGES.values() if page.is_only_news]
#: Of what is pushed there, a person learns no more than that there is news.
_SAYS_NOTHING = frozenset(
    {groups.HEARTBEAT, *(group for page in _NEWS_PAGES for group in page.groups if isinstance(group, str))}
)

#: By person: of all pages of one person, rows are rendered for one at a time, as others wait for the same thread.
_turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

KEEPALIVE = '<span id="live-keepalive" hidden></span>'


def groups_for(page: str, rights: frozenset[Right]) -> list[str] | None:
    """Return the groups `page` listens to; None for a page that does not exist."""
    kind, _, name = page.partition(":")
    declared = _PAGES.get(kind)
    if declared is None or bool(name) != bool(declared.of_name):
        return None
    of_object = declared.of_name(name) if declared.of_name else ""
    if of_object is None:
        return None
    can_operate = Right.OPERATE in rights
    of_page = [group if isinstance(group, str) else group(can_operate) for group in declared.groups]
    return [groups.HEARTBEAT, groups.MARKS, *([of_object] if of_object else []), *of_page]


def may_show(page: str, reach: Reach) -> bool:
    """Return whether the person may listen to `page`; a page that does not exist is refused by `groups_for`."""
    kind, _, name = page.partition(":")
    declared = _PAGES.get(kind)
    if declared is None:
        return True
    if declared.names_all and not reach.sees_all_names:
        return False
    return declared.resource is None or reach.sees(declared.resource, name)


class PageConsumer(PersonSocket):
    """`/ws/live/?page=…`: a page that a feature declares (`pushed_pages`), for example brokers or topic:<name>."""

    #: None: everything pushed to the page is for this person; otherwise only what is pushed to these.
    open_groups: frozenset[str] | None = None

    def __init__(self, *arguments: object, **named: object):
        super().__init__(*arguments, **named)
        self.hint_timer: asyncio.TimerHandle | None = None
        self.waiting: deque[str] = deque()
        self.wake = asyncio.Event()
        self.message: str | None = None
        self.has_said = asyncio.Event()
        self.marks_version: object = None
        self.has_marks = asyncio.Event()

    async def connect(self) -> None:
        """Subscribe before accepting: what happens after the browser sees it open is not missed."""
        names, refusal = await self.choose_groups()
        for name in names:
            await self.subscribe(name)
        if refusal is None:
            await feed_here().join(self)
        await self.accept()
        if refusal is not None:
            await self.end(refusal)
        else:
            self.turn = _turns.setdefault(self.scope["user"].pk, asyncio.Lock())
            self.begin(self.send_waiting(), self.show_rows(), self.show_marks())

    async def choose_groups(self) -> tuple[list[str], int | None]:
        """Choose the groups to listen to, or none and the code to close with."""
        refusal = await self.refusal()
        if refusal is not None:
            return [], refusal
        reach = self.reach = self.scope["reach"]
        self.name = page = parse_qs(self.scope["query_string"].decode("latin-1")).get("page", [""])[0]
        if not may_show(page, reach):
            return [], CLOSE_FORBIDDEN
        names = groups_for(page, reach.rights_on(Resource.CLUSTER, CLUSTER))
        if names is None:
            return [], CLOSE_UNKNOWN_PAGE
        if reach.is_limited_somewhere:
            self.open_groups = frozenset(names if page.startswith("topic:") else _SAYS_NOTHING)
        names += [groups.WAITING_CHANGES] if Right.OPERATE in reach.rights_anywhere else []
        return [*names, groups.person(self.scope["user"].pk)], None

    async def release(self) -> None:
        if self.hint_timer is not None:
            self.hint_timer.cancel()
        await feed_here().leave(self)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take the rows that a page shows; changes go by POST, with CSRF and rights."""
        self.message = text_data
        self.has_said.set()

    async def show_rows(self) -> None:
        """Render the rows of the page's last message.

        A page whose rows cannot be drawn is closed: connected anew it is told what it missed.
        """
        while True:
            await self.has_said.wait()
            self.has_said.clear()
            try:
                document = json.loads(self.message or "")
            except (ValueError, RecursionError):
                continue
            try:
                async with self.turn:
                    await feed_here().show(self, PageState.parse(document))
            except Exception:
                logger.exception("rows of page %s could not be drawn", self.name)
                await self.end(CLOSE_NOT_KNOWN)
                return
            await asyncio.sleep(SHOWN_SECONDS)

    async def push_html(self, message: PushedHtml) -> None:
        """Send the HTML; people with limited rights get a refetch instead of what is rendered for all."""
        if self.open_groups is None or message["group"] in self.open_groups:
            self.put(message["html"])
        elif self.hint_timer is None:
            self.hint_timer = asyncio.get_running_loop().call_later(HINT_SECONDS, self.hint)

    async def marks_changed(self, message: Mapping[str, object]) -> None:
        """Render the sidebar's counts for the person's rights, for the last message."""
        # A collector of an earlier release names no version: such a message is like no other.
        self.marks_version = message.get("version", object())
        self.has_marks.set()

    async def show_marks(self) -> None:
        while True:
            await self.has_marks.wait()
            self.has_marks.clear()
            html = await marks_here().html_for(self.scope["user"], self.reach, self.marks_version)
            if html is not None:
                self.put(html)
            else:
                await asyncio.sleep(MARKS_AGAIN_SECONDS)
                self.has_marks.set()

    def hint(self) -> None:
        self.hint_timer = None
        self.put(resync_html(now_ms()))

    def put(self, html: str) -> None:
        if len(self.waiting) >= WAITING_MAX:
            self.waiting.clear()
            self.waiting.append(resync_html(now_ms()))
        else:
            self.waiting.append(html)
        self.wake.set()

    async def send_waiting(self) -> None:
        while True:
            try:
                await asyncio.wait_for(self.wake.wait(), KEEPALIVE_SECONDS)
            except TimeoutError:
                self.waiting.append(KEEPALIVE)
            self.wake.clear()
            while self.waiting:
                await self.send(text_data=self.waiting.popleft())
