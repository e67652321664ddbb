"""Keeps the cluster's delegation tokens: read from ZooKeeper at the start and after each notice, changed by requests,
removed by the controller when they have expired.

A change is worked out from what stands in ZooKeeper and written over just that, with its notice in one transaction; so
two brokers that change a token at once cannot lose what the other did, and no change stays untold.
"""

import asyncio
import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple
from uuid import uuid4

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.security_limits import DELEGATION_TOKEN_BYTES_MAX
from broker.runtime.periodic import rounds
from broker.security.delegation_tokens import DelegationToken, KnownTokens, Lifetimes, Principal, expire, issue, renew
from broker.zookeeper import delegation_token_nodes as nodes
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.errors import (
    ConnectionInterrupted,
    MalformedZnode,
    NodeMissing,
    SessionLost,
    WrongVersion,
    ZooKeeperError,
    answer_of,
)
from broker.zookeeper.quota import Amount, require_room
from broker.zookeeper.session import Delete, Operation, SessionState, SetData, ZnodeCreation, ZooKeeperSession
from broker.zookeeper.watches import Notices

_log = logger(__name__)

#: How often a write is tried whose znode somebody else has changed between looking and writing.
_CONFLICTS_MAX = 10
_RECONNECTED_S = 0.02
#: To be read again: everything, because notices may have been missed.
_ALL = ""


class TokenSettings(NamedTuple):
    """`delegation.token.*`: the secret is shared by all brokers of the cluster; without one there are no tokens."""

    secret: bytes
    lifetimes: Lifetimes
    check_interval_ms: int


class DelegationTokens:
    """`start` and `stop` it; every other coroutine raises ApiError, also when ZooKeeper does not answer."""

    def __init__(
        self, session: ZooKeeperSession, settings: TokenSettings, clock: Clock, is_controller: Callable[[], bool]
    ):
        self._session = session
        self._settings = settings
        self._clock = clock
        self._is_controller = is_controller
        self._known = KnownTokens(settings.secret)
        #: Told the id of each token that is new, another or gone.
        self.on_changed: list[Callable[[str], None]] = []
        self._changed: asyncio.Queue[str] = asyncio.Queue()
        self._notices: Notices | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._was_lost = False

    @property
    def is_enabled(self) -> bool:
        return bool(self._settings.secret)

    # -- life

    async def start(self) -> None:
        """Returns when all tokens are known that there were. Raises the errors of ZooKeeper."""
        if not self.is_enabled:
            return
        for path in (nodes.TOKENS, nodes.CHANGES):
            await self._session.ensure(path)
        self._notices = Notices(self._session, nodes.CHANGES, self._on_notice)
        await self._notices.is_watching.wait()
        await self._read_all()
        self._session.on_state(self._on_state)
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(rounds(item)) for item in (self._apply_next, self._expire_next)]

    def stop(self) -> None:
        if self._notices is not None:
            self._notices.close()
        for task in self._tasks:
            task.cancel()

    def _on_notice(self, path: str, data: bytes) -> None:
        self._changed.put_nowait(nodes.decode_change(path, data))

    def _on_state(self, state: SessionState) -> None:
        """Reread all after a session change: notices are kept for some minutes only, and may have come and gone."""
        if state is SessionState.LOST:
            self._was_lost = True
        elif state is SessionState.CONNECTED and self._was_lost:
            self._was_lost = False
            self._changed.put_nowait(_ALL)

    # -- what is known

    def __iter__(self) -> Iterator[DelegationToken]:
        """Iterate over the tokens, also expired ones, until the controller has removed them."""
        return iter(self._known)

    def get(self, token_id: str) -> DelegationToken | None:
        return self._known.get(token_id)

    def hmac_of(self, token_id: str) -> bytes:
        return self._known.hmac_of(token_id)

    def _put(self, token: DelegationToken) -> None:
        self._known.put(token)
        self._notify_listeners(token.token_id)

    def _remove(self, token_id: str) -> None:
        self._known.remove(token_id)
        self._notify_listeners(token_id)

    def _notify_listeners(self, token_id: str) -> None:
        for listener in self.on_changed:
            listener(token_id)

    # -- changes

    async def create(
        self, owner: Principal, requester: Principal, renewers: tuple[Principal, ...], lifetime_ms: int
    ) -> tuple[DelegationToken, bytes]:
        """Create a token and return it with its HMAC."""
        self._known.require_room(requester)
        token_id = base64.urlsafe_b64encode(uuid4().bytes).rstrip(b"=").decode()
        parties = (owner, requester, renewers)
        token = issue(token_id, parties, lifetime_ms, self._settings.lifetimes, self._clock.now_ms())
        with _answered():
            await self._add(token)
        self._put(token)
        _log.info("delegation token made", token=token_id, owner=str(owner), requester=str(requester))
        return token, self._known.hmac_of(token_id)

    async def renew(self, token_hmac: bytes, asker: Principal, period_ms: int) -> int:
        """Renew the token and return its new expiry."""
        renewed = partial(
            renew, asker=asker, period_ms=period_ms, lifetimes=self._settings.lifetimes, now_ms=self._clock.now_ms()
        )
        token = await self._change(token_hmac, renewed)
        return token.expiry_ms if token else 0

    async def expire(self, token_hmac: bytes, asker: Principal, period_ms: int) -> int:
        """Expire the token and return when it expires: now, if it is removed."""
        now_ms = self._clock.now_ms()
        token = await self._change(token_hmac, partial(expire, asker=asker, period_ms=period_ms, now_ms=now_ms))
        return token.expiry_ms if token else now_ms

    async def _change(
        self, token_hmac: bytes, decide: Callable[[DelegationToken], DelegationToken | None]
    ) -> DelegationToken | None:
        """Change a token and return it as it is afterwards, None if it is gone."""
        token_id = self._known.by_hmac(token_hmac).token_id
        with _answered():
            return await self._rewrite(token_id, decide)

    async def _add(self, token: DelegationToken) -> None:
        data = nodes.encode_token(token)
        if len(data) > DELEGATION_TOKEN_BYTES_MAX:
            raise ApiError(ErrorCode.INVALID_REQUEST, "the renewers of a delegation token take too much room")
        await require_room(self._session, nodes.ROOT, Amount(2, len(data) + len(token.token_id)))
        await self._session.multi([ZnodeCreation(nodes.token_path(token.token_id), data), _notice(token.token_id)])

    async def _rewrite(
        self, token_id: str, decide: Callable[[DelegationToken], DelegationToken | None]
    ) -> DelegationToken | None:
        """Rewrite a token. `decide` gets the stored one, and may raise ApiError."""
        path = nodes.token_path(token_id)
        for _ in range(_CONFLICTS_MAX):
            try:
                znode = await self._session.get(path)
                before = nodes.decode_token(token_id, znode.data)
                after = decide(before)
                if after != before:
                    await self._write(token_id, after, znode.version)
            except WrongVersion:
                continue
            except NodeMissing as error:
                if error.path != path:
                    raise
                self._remove(token_id)
                raise ApiError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND) from None
            self._remember(token_id, after)
            return after
        raise ApiError(ErrorCode.REQUEST_TIMED_OUT, "others keep changing the delegation token; try again")

    async def _write(self, token_id: str, after: DelegationToken | None, version: int) -> None:
        path = nodes.token_path(token_id)
        if after is None:
            await self._session.multi([Delete(path, version), _notice(token_id)])
        else:
            await require_room(self._session, nodes.ROOT, Amount(1, len(token_id)))
            await self._session.multi([SetData(path, nodes.encode_token(after), version), _notice(token_id)])

    def _remember(self, token_id: str, token: DelegationToken | None) -> None:
        if token is None:
            self._remove(token_id)
            _log.info("delegation token removed", token=token_id)
        else:
            self._put(token)

    # -- what others have changed

    async def _apply_next(self) -> None:
        token_id = await self._changed.get()
        while True:
            try:
                await (self._read_all() if token_id == _ALL else self._read(token_id))
                return
            except (ConnectionInterrupted, SessionLost):
                await self._session.wait_connected()
                await asyncio.sleep(_RECONNECTED_S)

    async def _read_all(self) -> None:
        names = [name for name in await self._session.children(nodes.TOKENS) if nodes.is_token_id(name)]
        for gone in {token.token_id for token in self._known}.difference(names):
            self._remove(gone)
        await ask_each(self._read, names)

    async def _read(self, token_id: str) -> None:
        try:
            znode = await self._session.get(nodes.token_path(token_id))
            self._put(nodes.decode_token(token_id, znode.data))
        except NodeMissing:
            self._remove(token_id)
        except MalformedZnode as error:
            self._remove(token_id)
            _log.warning("delegation token ignored", reason=str(error))

    # -- the end

    async def _expire_next(self) -> None:
        await asyncio.sleep(self._settings.check_interval_ms / 1000)
        if self._is_controller():
            await self.remove_those_over()

    async def remove_those_over(self) -> None:
        """Remove expired tokens, as the controller does; one that is renewed meanwhile stays."""
        for token in self._known:
            if token.is_over(self._clock.now_ms()):
                try:
                    await self._rewrite(token.token_id, self._unless_over)
                except (ApiError, ZooKeeperError, MalformedZnode) as error:
                    _log.warning("delegation token not removed yet", token=token.token_id, reason=str(error))

    def _unless_over(self, token: DelegationToken) -> DelegationToken | None:
        return None if token.is_over(self._clock.now_ms()) else token


@contextmanager
def _answered() -> Iterator[None]:
    """Turn ZooKeeper's refusals into errors of the response."""
    try:
        yield
    except (ZooKeeperError, MalformedZnode) as error:
        raise answer_of(error) from error


def _notice(token_id: str) -> Operation:
    return ZnodeCreation(nodes.CHANGE_PREFIX, token_id.encode(), sequential=True)
