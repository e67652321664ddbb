"""Which registry writes: the one whose session made the znode. The others watch it, and stand when it goes.

This says only who should lead. That nobody else can write is up to the log (`schema_log.SchemaWriter`): a leader that
does not know yet that it has been replaced is refused by the brokers.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import NamedTuple

from broker.common.logs import logger
from broker.zookeeper.errors import NodeExists, NodeMissing, ZooKeeperError
from broker.zookeeper.session import SessionState, ZooKeeperSession

_PAUSE_S = 0.5

_log = logger(__name__)


class Leader(NamedTuple):
    host: str
    port: int
    is_self: bool
    scheme: str = "http"


class Leadership:
    """Leader election of registries: `leader` is the known leader; None while there is none."""

    def __init__(self, host: str, port: int, scheme: str = "http"):
        self._address, self._scheme = (host, port), scheme
        self.leader: Leader | None = None
        self._changed = asyncio.Event()
        self._listeners: list[Callable[[Leader | None], None]] = []

    def on_change(self, listener: Callable[[Leader | None], None]) -> None:
        self._listeners.append(listener)

    async def changed(self) -> None:
        """Wait until the leader changes."""
        await self._changed.wait()

    async def known(self, timeout_s: float) -> Leader | None:
        """Return the leader, after a short wait if there is none between two."""
        try:
            async with asyncio.timeout(timeout_s):
                while self.leader is None:
                    await self._changed.wait()
        except TimeoutError:
            pass
        return self.leader

    def lead_alone(self) -> None:
        """Become the leader; without ZooKeeper there is no other registry."""
        self._set(Leader(*self._address, is_self=True, scheme=self._scheme))

    def _set(self, leader: Leader | None) -> None:
        if leader == self.leader:
            return
        self.leader = leader
        before, self._changed = self._changed, asyncio.Event()
        before.set()
        _log.info("leader", leader=f"{leader.host}:{leader.port}" if leader else "nobody")
        for listener in self._listeners:
            listener(leader)

    async def run(self, session: ZooKeeperSession, namespace: str, *, is_eligible: bool) -> None:
        """Take part in elections until cancelled. The owner opens and closes the session."""
        path = f"/{namespace.strip('/')}/schema_registry_master"
        session.on_state(lambda state: self._set(None) if state is SessionState.LOST else None)
        while True:
            try:
                await session.ensure(path.rpartition("/")[0])
                await self._round(session, path, is_eligible)
            except ZooKeeperError as error:
                _log.warning("the election waits for ZooKeeper", reason=str(error))
            except Exception:  # without this task the registry never leads again, and nothing says so
                _log.exception("leader election failed; trying again")
            else:
                continue
            await asyncio.sleep(_PAUSE_S)
            await session.wait_connected()

    async def _round(self, session: ZooKeeperSession, path: str, is_eligible: bool) -> None:
        """Take part in the election once, and wait until there is a reason for another round."""
        look_again = asyncio.Event()
        if is_eligible:
            with contextlib.suppress(NodeExists):
                await session.create(path, self._identity(), ephemeral=True)
        try:
            znode = await session.get(path, look_again.set)
        except NodeMissing:
            self._set(None)
            if is_eligible or await session.exists(path, look_again.set) is not None:
                return
        else:
            is_self = znode.ephemeral_owner == session.session_id
            self._set(Leader(*self._address, is_self=True, scheme=self._scheme) if is_self else _named(znode.data))
        await look_again.wait()

    def _identity(self) -> bytes:
        """Return the identity in the format of Confluent's registries that were elected through ZooKeeper."""
        host, port = self._address
        identity = {"host": host, "port": port, "master_eligibility": True, "scheme": self._scheme, "version": 1}
        return json.dumps(identity).encode()


def _named(data: bytes) -> Leader | None:
    try:
        fields = json.loads(data)
        scheme = "https" if fields.get("scheme") == "https" else "http"
        return Leader(str(fields["host"]), int(fields["port"]), is_self=False, scheme=scheme)
    except (ValueError, KeyError, TypeError):
        _log.warning("the znode names no leader", data=data[:200].decode(errors="replace"))
        return None
