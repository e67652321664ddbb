"""One websocket per open page: it says what it shows and receives that rendered, nothing else.

Rows come from the feed of this process (console/live/feed.py), everything else through groups of the channel layer.

A slow reader never holds memory: what waits for it is bounded, and at the bound everything waiting is thrown away
and the page is told to fetch itself again.
"""

import asyncio
import json
import re
from collections import deque
from contextlib import suppress
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth import HASH_SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore

from console.access.reach import Reach, Resource
from console.access.rights import CLUSTER, Right, reach_of
from console.live import groups
from console.live.clock import now_ms
from console.live.feed import feed_here
from console.live.push import resync_html
from console.live.watched import Shown

KEEPALIVE_SECONDS = 10
#: How long somebody who logged out or lost the role may still listen.
RECHECK_SECONDS = 30
#: Rendered partials that may wait for one browser, about a minute of a busy page.
WAITING_MAX = 64
#: Close codes the page's script knows: log in again, no right, no such page.
CLOSE_LOGIN, CLOSE_FORBIDDEN, CLOSE_UNKNOWN_PAGE = 4401, 4403, 4404
#: The person's rights are others now: the page loads itself again.
CLOSE_RIGHTS_CHANGED = 4409
#: Who may not see everything is told at most this often that there is news.
HINT_SECONDS = 2

#: A process's name, which is safe in a group's.
STREAM_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")

KEEPALIVE = '<span id="live-keepalive" hidden></span>'


def groups_for(page: str, rights: frozenset[Right]) -> list[str] | None:
    """The groups `page` listens to; None for a page that does not exist."""
    kind, _, name = page.partition(":")
    if kind == "topic" and name:
        return [groups.HEARTBEAT, groups.topic(name)]
    if kind == "broker" and name.isascii() and name.isdigit():
        return [groups.HEARTBEAT, groups.broker(int(name))]
    if kind == "stream" and STREAM_NAME.fullmatch(name):
        return [groups.HEARTBEAT, groups.stream(name), groups.processes(Right.OPERATE in rights)]
    if name:
        return None
    by_page = {
        "overview": [groups.CLUSTER_OVERVIEW],
        "brokers": [groups.BROKERS],
        "topics": [],
        "placement": [groups.PLACEMENT],
        "zookeeper": [groups.ZOOKEEPER, groups.ensemble_changes(Right.OPERATE in rights)],
        "retention": [groups.RETENTION],
        "history": [groups.HISTORY],
        "consumers": [],
        "consumer-pages": [],
        "streams": [groups.STREAMS],
        "processes": [groups.processes(Right.OPERATE in rights)],
        "other": [],
    }
    return [groups.HEARTBEAT, *by_page[kind]] if kind in by_page else None


def may_show(page: str, reach: Reach) -> bool:
    kind, _, name = page.partition(":")
    return kind != "topic" or Right.VIEW in reach.rights_on(Resource.TOPIC, name)


class PageConsumer(AsyncWebsocketConsumer):
    """`/ws/live/?page=…`: overview, brokers, broker:<id>, topics, topic:<name>, placement, history, consumers,
    consumer-pages, processes, streams, stream:<name>, zookeeper, or other."""

    #: None: everything pushed to the page is for this person; otherwise only what is pushed to these.
    open_groups: frozenset[str] | None = None

    async def connect(self) -> None:
        """Subscribed before it is accepted: what happens after the browser sees it open is not missed."""
        self.subscribed: list[str] = []
        self.hint_timer: asyncio.TimerHandle | None = None
        self.waiting: deque[str] = deque()
        self.wake = asyncio.Event()
        self.tasks: list[asyncio.Task] = []
        names, refusal = await self.choose_groups()
        for name in names:
            await self.channel_layer.group_add(name, self.channel_name)
            self.subscribed.append(name)
        if refusal is None:
            await feed_here().join(self)
        await self.accept()
        if refusal is not None:
            await self.close(refusal)
        else:
            self.tasks = [asyncio.create_task(self.send_waiting()), asyncio.create_task(self.watch_right())]

    async def choose_groups(self) -> tuple[list[str], int | None]:
        """The groups to listen to, or none and the code to close with; a browser sees a code only once accepted."""
        user = self.scope["user"]
        if not user.is_authenticated:
            return [], CLOSE_LOGIN
        reach = self.scope["reach"] = await database_sync_to_async(reach_of)(user)
        self.reach = reach
        self.name = page = parse_qs(self.scope["query_string"].decode("latin-1")).get("page", [""])[0]
        if Right.VIEW not in reach.rights_anywhere or not may_show(page, reach):
            return [], CLOSE_FORBIDDEN
        names = groups_for(page, reach.rights_on(Resource.CLUSTER, CLUSTER))
        if names is None:
            return [], CLOSE_UNKNOWN_PAGE
        if reach.is_limited_somewhere:
            self.open_groups = frozenset(names if page.startswith("topic:") else [groups.HEARTBEAT])
        return [*names, groups.person(user.pk)], None

    async def disconnect(self, code: int) -> None:
        for task in self.tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        if self.hint_timer is not None:
            self.hint_timer.cancel()
        await feed_here().leave(self)
        for name in self.subscribed:
            await self.channel_layer.group_discard(name, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A page says which rows it shows, and nothing else: changes go by POST, with CSRF and rights."""
        try:
            said = json.loads(text_data or "")
        except (ValueError, RecursionError):
            return
        if self.tasks:
            await feed_here().show(self, Shown.parse(said))

    async def push_html(self, message: dict) -> None:
        """What is rendered for all never reaches who may not see all: such a page is told to fetch itself."""
        if self.open_groups is None or message["group"] in self.open_groups:
            self.put(message["html"])
        elif self.hint_timer is None:
            self.hint_timer = asyncio.get_running_loop().call_later(HINT_SECONDS, self.hint)

    def hint(self) -> None:
        self.hint_timer = None
        self.put(resync_html(now_ms()))

    async def rights_changed(self, message: dict) -> None:
        """Sent to all sockets of a person; those that may go on go on."""
        await self.end_without_right()

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

    async def watch_right(self) -> None:
        """A page may stay open for days: log-out, a lost role and a closed account end it too."""
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            await self.end_without_right()

    async def end_without_right(self) -> None:
        code = await database_sync_to_async(refusal_now)(self.scope)
        if code is not None:
            await self.close(code)


def refusal_now(scope: dict) -> int | None:
    """The code to close with if who opened the websocket may not look any more, or may look at something else."""
    user = get_user_model().objects.filter(pk=scope["user"].pk).first()
    if user is None or ("session" in scope and not is_logged_in(scope["session"].session_key, user)):
        return CLOSE_LOGIN
    reach = reach_of(user)
    if Right.VIEW not in reach.rights_anywhere:
        return CLOSE_FORBIDDEN
    return None if reach == scope["reach"] else CLOSE_RIGHTS_CHANGED


def is_logged_in(session_key: str, user) -> bool:
    """Asked of the store: a session ends by log-out, by its age and by a new password."""
    kept = SessionStore(session_key).load()
    return kept.get(HASH_SESSION_KEY) == user.get_session_auth_hash()
