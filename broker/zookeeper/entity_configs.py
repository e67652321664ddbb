"""The configuration of users, client ids and addresses: znodes that may stand below one another, and go when empty.

Quotas and SCRAM credentials of a user share one znode; whoever changes his own part leaves the other. A client id of a
user stands below the user, whose znode may have nothing in it. A znode without anything goes, and with it the empty
ones above it, or every client id ever limited would be remembered (KAFKA-14285).
"""

import contextlib
from collections.abc import Callable

from broker.common.logs import logger
from broker.zookeeper import znodes
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.errors import (
    MalformedZnode,
    NodeExists,
    NodeMissing,
    NodeNotEmpty,
    OperationRefused,
    WrongVersion,
)
from broker.zookeeper.quota import Amount, require_fitting, require_room
from broker.zookeeper.session import Delete, Operation, SetData, ZnodeCreation, ZooKeeperSession

_log = logger(__name__)

_CONFLICTS_MAX = 20
_ROOT = "/config"
#: Of types whose entities have none below them, and of users.
_TYPES = ("users", "clients", "ips")
_BELOW_USERS = "clients"

Config = dict[str, str]


class EntityConfigs:
    """Configurations by path below /config: `users/U`, `users/U/clients/C`, `ips/I`, `groups/G`. Raises
    ZooKeeperError.
    """

    def __init__(self, session: ZooKeeperSession):
        self._session = session

    async def names(self, kind: str) -> list[str]:
        """Return the names of the entities of one type, as their znodes have them."""
        return await self._session.children_if_present(f"{_ROOT}/{kind}")

    async def of(self, path: str) -> Config:
        """Return the entity's configuration; empty if it is missing or unreadable (logged)."""
        try:
            return (await _read(self._session, _znode(path)))[0]
        except MalformedZnode as error:
            _log.error("configuration left out", error=str(error))
            return {}

    async def all(self) -> dict[str, Config]:
        """Return the configurations of all entities that have one."""
        paths = [
            f"{kind}/{name}" for kind in _TYPES for name in await self._session.children_if_present(f"{_ROOT}/{kind}")
        ]
        paths += [path for children in await ask_each(self._below, paths) for path in children]
        configs = await ask_each(self.of, paths)
        return {path: config for path, config in zip(paths, configs, strict=True) if config}

    async def _below(self, path: str) -> list[str]:
        if not path.startswith("users/"):
            return []
        parent = f"{path}/{_BELOW_USERS}"
        return [f"{parent}/{name}" for name in await self._session.children_if_present(f"{_ROOT}/{parent}")]

    async def change(self, path: str, change: Callable[[Config], Config]) -> Config:
        """Replace the configuration by what `change` returns, announce that, and return it.

        `change` is asked again if somebody else was quicker; what it raises ends the try. Raises MalformedZnode rather
        than write over what it cannot read: it may hold credentials.
        """
        session, znode = self._session, _znode(path)
        creation = ZnodeCreation(znodes.CONFIG_CHANGE_PREFIX, znodes.encode_config_change(path), sequential=True)
        for _ in range(_CONFLICTS_MAX):
            present, version = await _read(session, znode)
            wanted = change(dict(present))
            if wanted:
                write = await _write(session, znode, present, wanted, version)
            else:
                write = await _removal(session, znode, version)
            with contextlib.suppress(NodeExists, NodeMissing, NodeNotEmpty, WrongVersion):
                await session.multi([*write, creation])
                if not wanted:
                    await _remove_empty_parents(session, znode)
                return wanted
        raise OperationRefused(znode, "it keeps changing")


async def _write(
    session: ZooKeeperSession, znode: str, present: Config, wanted: Config, version: int | None
) -> list[Operation]:
    data = znodes.encode_config(wanted)
    if (larger := len(data) - len(znodes.encode_config(present))) > 0:
        await require_fitting(session, _ROOT, len(data))
        await require_room(session, _ROOT, Amount(3, larger))
    if version is not None:
        return [SetData(znode, data, version)]
    await session.ensure(znode.rpartition("/")[0])
    return [ZnodeCreation(znode, data)]


async def _removal(session: ZooKeeperSession, znode: str, version: int | None) -> list[Operation]:
    """Return the operations that remove the settings; a user's znode stays while client ids are below it."""
    if version is None:
        return []
    if await session.children_if_present(znode):
        return [SetData(znode, znodes.encode_config({}), version)]
    return [Delete(znode, version)]


async def _remove_empty_parents(session: ZooKeeperSession, znode: str) -> None:
    """Remove empty znodes between a deleted client id of a user and the users."""
    parents = znode.removeprefix(f"{_ROOT}/").split("/")
    with contextlib.suppress(MalformedZnode, NodeMissing, NodeNotEmpty, WrongVersion):
        for depth in range(len(parents) - 1, 1, -1):
            parent = f"{_ROOT}/" + "/".join(parents[:depth])
            config, version = await _read(session, parent)
            if config or version is None:
                return
            await session.delete(parent, version)


async def _read(session: ZooKeeperSession, znode: str) -> tuple[Config, int | None]:
    """Return the settings and the version of the znode, None if there is none. Raises MalformedZnode."""
    try:
        content = await session.get(znode)
    except NodeMissing:
        return {}, None
    return znodes.decode_config(znode, content.data), content.version


def _znode(path: str) -> str:
    """Return the znode's path. OperationRefused for an invalid one."""
    if any(part in ("", ".", "..") or "\0" in part for part in path.split("/")):
        raise OperationRefused(f"{_ROOT}/{path:.300}", "this is no name of a znode")
    return f"{_ROOT}/{path}"
