"""Reads and writes access rules in ZooKeeper, for brokers and for the command that changes them there.

The rules of a pattern are one znode, written over the version that was read, and gone with its last rule. What tells of
a change is created in the same transaction: nobody misses a change that was written, also if its author dies.
"""

import asyncio
from collections.abc import Callable

from broker.common.logs import logger
from broker.security.acls.model import AclEntry, Pattern, PatternType, Rules
from broker.zookeeper.acl_znodes import (
    ACL_CHANGES,
    EXTENDED_ACL_CHANGES,
    PERSISTENT_PATHS,
    acl_path,
    change_prefix,
    decode_acls,
    decode_change,
    encode_acls,
    encode_change,
    kind_of,
    root_of,
)
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.errors import (
    ConnectionInterrupted,
    NodeExists,
    NodeMissing,
    OperationRefused,
    WrongVersion,
)
from broker.zookeeper.quota import require_fitting
from broker.zookeeper.session import Delete, Operation, SetData, ZnodeCreation, ZooKeeperSession
from broker.zookeeper.watches import Notices

_log = logger(__name__)

#: Kafka's: how often a change is tried whose znode somebody else keeps changing, and the pause between.
_TRIES_MAX = 11
_PAUSE_S = 0.1
#: A znode that is not there.
_ABSENT = -1
_QUOTA_ROOT = "/config"

#: What shall hold of a pattern, of what holds now. Called again when somebody else was faster.
AclChange = Callable[[tuple[AclEntry, ...]], tuple[AclEntry, ...]]


class AclStore:
    """Raises the errors of `errors.py`, and MalformedZnode for what cannot be read."""

    def __init__(self, session: ZooKeeperSession):
        self._session = session

    async def ensure_paths(self) -> None:
        for path in PERSISTENT_PATHS:
            await self._session.ensure(path)

    async def load(self) -> Rules:
        """Return all ACLs there are."""
        patterns = [*await self._in(PatternType.LITERAL), *await self._in(PatternType.PREFIXED)]
        entries = await ask_each(self.read, patterns)
        return {pattern: pair for pattern, pair in zip(patterns, entries, strict=True) if pair}

    async def _in(self, type_: PatternType) -> list[Pattern]:
        patterns = []
        for name in await self._session.children_if_present(root_of(type_)):
            kind = kind_of(name)
            if kind is None:
                _log.warning("access rules ignored: no type of resource", path=f"{root_of(type_)}/{name}"[:300])
                continue
            patterns += [
                Pattern(kind, item, type_)
                for item in await self._session.children_if_present(f"{root_of(type_)}/{name}")
            ]
        return patterns

    async def read(self, pattern: Pattern) -> tuple[AclEntry, ...]:
        return (await self._read(acl_path(pattern)))[0]

    async def _read(self, path: str) -> tuple[tuple[AclEntry, ...], int]:
        try:
            znode = await self._session.get(path)
        except NodeMissing:
            return (), _ABSENT
        return decode_acls(path, znode.data), znode.version

    async def change(self, pattern: Pattern, change: AclChange) -> tuple[AclEntry, ...]:
        """Replace the pattern's entries by what `change` returns, announce that, and return them.

        OperationRefused when others keep changing it, QuotaExceeded when there is no room.
        """
        path = acl_path(pattern)
        await self._session.sync(path)
        for attempt in range(_TRIES_MAX):
            if attempt:
                await asyncio.sleep(_PAUSE_S)
            try:
                present, version = await self._read(path)
                wanted = change(present)
                if set(wanted) != set(present):
                    await self._write(pattern, wanted, version)
                return wanted
            except (WrongVersion, NodeMissing, NodeExists):
                continue
            except ConnectionInterrupted:
                # It is written with its notice or not at all: the next look says which.
                if attempt == _TRIES_MAX - 1:
                    raise
        raise OperationRefused(path, "its rules keep changing, or the znode above it is missing")

    async def _write(self, pattern: Pattern, entries: tuple[AclEntry, ...], version: int) -> None:
        path, data = acl_path(pattern), encode_acls(entries)
        write: Operation
        if not entries:
            write = Delete(path, version)
        elif version == _ABSENT:
            write = ZnodeCreation(path, data)
        else:
            write = SetData(path, data, version)
        await require_fitting(self._session, _QUOTA_ROOT, len(data))
        await self._session.multi(
            [write, ZnodeCreation(change_prefix(pattern), encode_change(pattern), sequential=True)]
        )


class AclChanges:
    """Tells of which patterns the rules were changed, from the moment `is_watching` on, by whichever broker or tool."""

    def __init__(self, session: ZooKeeperSession, deliver: Callable[[Pattern], None]):
        def tell(path: str, data: bytes) -> None:
            deliver(decode_change(path, data))

        self._notices = [Notices(session, parent, tell) for parent in (ACL_CHANGES, EXTENDED_ACL_CHANGES)]

    async def is_watching(self) -> None:
        for notices in self._notices:
            await notices.is_watching.wait()

    def close(self) -> None:
        for notices in self._notices:
            notices.close()
