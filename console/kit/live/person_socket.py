"""A websocket of one person: open while the person may look, and whatever ends it, nothing of it stays behind."""

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth import HASH_SESSION_KEY, get_user_model
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore

from console.kit.access.idle import is_idle
from console.kit.access.initial_password import MUST_CHANGE
from console.kit.access.rights import Right, reach_of
from console.kit.common.background import end_tasks
from console.kit.common.clock import now_ms
from console.kit.live import groups

logger = logging.getLogger(__name__)

#: How long somebody who logged out or lost the role may still listen, if no message of the change comes before.
RECHECK_SECONDS = 30
#: Looks at the right that may fail one after the other; then the socket is closed.
FAILED_LOOKS_MAX = 3
#: Close codes the page's script knows: log in again, choose a password of your own, no right, no such page.
CLOSE_LOGIN, CLOSE_ONE_TIME_PASSWORD, CLOSE_FORBIDDEN, CLOSE_UNKNOWN_PAGE = 4401, 4402, 4403, 4404
#: The person's rights are others now: the page loads itself again.
CLOSE_RIGHTS_CHANGED = 4409
#: Nobody could say for a while whether the person still may look, or too many are open. Try again later (RFC 6455):
#: pages connect anew.
CLOSE_NOT_KNOWN = CLOSE_TOO_MANY = 1013
#: Of one person at a time, in all browsers: each costs memory, and some of each push.
SOCKETS_PER_PERSON_MAX = 300

_open: Counter[int] = Counter()


class BrowserDisconnectedError(Exception):
    """Something was sent to a browser that is not there any more."""


class PersonSocket(AsyncWebsocketConsumer):
    """Subclasses look at `refusal` before anything else, then `begin`; `release` gives back what they hold."""

    #: A subclass that sends what is more than news of the cluster looks more often than RECHECK_SECONDS.
    recheck_seconds: ClassVar[float] = math.inf

    def __init__(self, *arguments: object, **named: object):
        super().__init__(*arguments, **named)
        self.tasks: list[asyncio.Task[None]] = []
        self.subscribed: list[str] = []
        self.is_over = False
        self.is_one_too_many = False

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        person = scope["user"].pk
        self.is_one_too_many = person is not None and _open[person] >= SOCKETS_PER_PERSON_MAX
        _open[person] += 1

        async def send_to_browser(message: dict[str, Any]) -> None:
            try:
                await send(message)
            except OSError as error:
                raise BrowserDisconnectedError from error

        try:
            with suppress(BrowserDisconnectedError):
                await super().__call__(scope, receive, send_to_browser)
        finally:
            _open[person] -= 1
            await end_tasks(self.tasks, BrowserDisconnectedError)
            await self.release()
            for name in self.subscribed:
                await self.channel_layer.group_discard(name, self.channel_name)

    async def release(self) -> None:
        """Called once, however it ended; also if it was refused, or `connect` failed."""

    async def subscribe(self, group: str) -> None:
        name = groups.on_layer(group)
        self.subscribed.append(name)
        await self.channel_layer.group_add(name, self.channel_name)

    def begin(self, *coroutines: Coroutine[Any, Any, None]) -> None:
        """Run these, and the watch over the right, until the socket is over."""
        self.tasks = [asyncio.create_task(coroutine) for coroutine in (*coroutines, self.watch_right())]

    async def end(self, code: int | None = None) -> None:
        """Close it; nothing more is sent before. A second time does nothing."""
        if self.is_over:
            return
        self.is_over = True
        for task in self.tasks:
            if task is not asyncio.current_task():
                task.cancel()
        await self.close(code)

    async def refusal(self) -> int | None:
        """Return the code to close with; a browser sees it only once the socket is accepted."""
        if self.is_one_too_many:
            return CLOSE_TOO_MANY
        return await database_sync_to_async(refusal_now)(self.scope)

    async def rights_changed(self, message: dict[str, Any]) -> None:
        """Handle changed rights or logins of the person; sockets that are still allowed go on."""
        code = await self.refusal()
        if code is not None:
            await self.end(code)

    async def watch_right(self) -> None:
        """Close the page's socket on log-out, a lost role or a closed account: it may stay open for days."""
        code, failed = None, 0
        while code is None:
            await asyncio.sleep(min(RECHECK_SECONDS, self.recheck_seconds))
            try:
                code, failed = await self.refusal(), 0
            except Exception:
                failed += 1
                logger.exception("whether user %s still may look could not be found out", self.scope["user"].pk)
                code = CLOSE_NOT_KNOWN if failed >= FAILED_LOOKS_MAX else None
        await self.end(code)


def refusal_now(scope: dict[str, Any]) -> int | None:
    """Return the code to close with if the person may no longer look, or would look at something else than on
    connecting.
    """
    user = get_user_model().objects.filter(pk=scope["user"].pk).first()
    if user is None:
        return CLOSE_LOGIN
    if "session" in scope:
        kept = SessionStore(scope["session"].session_key).load()
        if not is_login_of(user, kept):
            return CLOSE_LOGIN
        if kept.get(MUST_CHANGE):
            return CLOSE_ONE_TIME_PASSWORD
    reach = reach_of(user)
    if Right.VIEW not in reach.rights_anywhere:
        return CLOSE_FORBIDDEN
    return None if reach == scope.setdefault("reach", reach) else CLOSE_RIGHTS_CHANGED


def is_login_of(user: User, kept: Mapping[str, Any]) -> bool:
    """Return whether the stored session is still a login of `user`: log-out, its age, disuse, or a new password end
    it.
    """
    return not is_idle(kept, now_ms()) and kept.get(HASH_SESSION_KEY) == user.get_session_auth_hash()
