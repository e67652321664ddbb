"""One websocket per open page: it says which page it shows and receives rendered partials, nothing else.

A slow reader never holds memory: what waits for it is bounded, and at the bound everything waiting is thrown away
and the page is told to fetch itself again.
"""

import asyncio
from collections import deque
from contextlib import suppress
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth import HASH_SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore

from console.access.rights import Right, has_right, rights_of
from console.live import groups

KEEPALIVE_SECONDS = 10
#: How long somebody who logged out or lost the role may still listen.
RECHECK_SECONDS = 30
#: Rendered partials that may wait for one browser, about a minute of a busy page.
WAITING_MAX = 64
#: Close codes the page's script knows: log in again, no right, no such page.
CLOSE_LOGIN, CLOSE_FORBIDDEN, CLOSE_UNKNOWN_PAGE = 4401, 4403, 4404

KEEPALIVE = '<span id="live-keepalive" hidden></span>'
RESYNC = '<span id="live-resync" data-version="overflow" hidden></span>'


def groups_for(page: str, rights: frozenset[Right]) -> list[str] | None:
    """The groups `page` listens to; None for a page that does not exist."""
    kind, _, name = page.partition(":")
    if kind == "topic" and name:
        return [groups.HEARTBEAT, groups.topic(name)]
    if kind == "broker" and name.isascii() and name.isdigit():
        return [groups.HEARTBEAT, groups.broker(int(name))]
    if name:
        return None
    by_page = {
        "overview": [groups.CLUSTER_OVERVIEW],
        "brokers": [groups.BROKERS],
        "topics": [groups.TOPICS],
        "placement": [groups.PLACEMENT],
        "history": [groups.HISTORY],
        "consumers": [groups.CONSUMERS],
        "consumer-pages": [groups.CONSUMER_PAGES],
        "processes": [groups.processes(Right.OPERATE in rights)],
        "other": [],
    }
    return [groups.HEARTBEAT, *by_page[kind]] if kind in by_page else None


class PageConsumer(AsyncWebsocketConsumer):
    """`/ws/live/?page=…`: overview, brokers, broker:<id>, topics, topic:<name>, placement, history, consumers,
    consumer-pages, processes, or other."""

    async def connect(self) -> None:
        """Subscribed before it is accepted: what happens after the browser sees it open is not missed."""
        self.subscribed: list[str] = []
        self.waiting: deque[str] = deque()
        self.wake = asyncio.Event()
        self.tasks: list[asyncio.Task] = []
        names, refusal = await self.choose_groups()
        for name in names:
            await self.channel_layer.group_add(name, self.channel_name)
            self.subscribed.append(name)
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
        rights = await database_sync_to_async(rights_of)(user)
        if Right.VIEW not in rights:
            return [], CLOSE_FORBIDDEN
        page = parse_qs(self.scope["query_string"].decode("latin-1")).get("page", [""])[0]
        names = groups_for(page, rights)
        return ([], CLOSE_UNKNOWN_PAGE) if names is None else (names, None)

    async def disconnect(self, code: int) -> None:
        for task in self.tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for name in self.subscribed:
            await self.channel_layer.group_discard(name, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A page has nothing to say here: changes go by POST, with CSRF and rights."""

    async def push_html(self, message: dict) -> None:
        if len(self.waiting) >= WAITING_MAX:
            self.waiting.clear()
            self.waiting.append(RESYNC)
        else:
            self.waiting.append(message["html"])
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
            code = await database_sync_to_async(refusal_now)(self.scope)
            if code is not None:
                await self.close(code)
                return


def refusal_now(scope: dict) -> int | None:
    """The code to close with if who opened the websocket may not look any more."""
    user = get_user_model().objects.filter(pk=scope["user"].pk).first()
    if user is None or ("session" in scope and not is_logged_in(scope["session"].session_key, user)):
        return CLOSE_LOGIN
    return None if has_right(user, Right.VIEW) else CLOSE_FORBIDDEN


def is_logged_in(session_key: str, user) -> bool:
    """Asked of the store: a session ends by log-out, by its age and by a new password."""
    kept = SessionStore(session_key).load()
    return kept.get(HASH_SESSION_KEY) == user.get_session_auth_hash()
