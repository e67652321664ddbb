"""A broker's ZooKeeper client learns of members that join and leave while it runs.

The ensemble keeps its own list of members in a znode. Without following it a broker would know only those of its
`zookeeper.connect`, and after a few replacements none that is still there. What the operator wrote stays known behind
them: a member may name an address that is not reachable from here. Where the operator wrote no member's address at all,
as that of a relay or a name for all of them, the way to ZooKeeper is the operator's, and nothing is followed.
"""

from broker.common.logs import logger
from broker.zookeeper.ensemble_config import CONFIG_PATH, parse_config
from broker.zookeeper.session import Watcher, ZooKeeperSession
from broker.zookeeper.watches import ZnodeWatch

log = logger(__name__)


def names_a_member(configured: str, config_text: str) -> bool:
    """Return whether one of the `host:port,…` is the address under which a member serves."""
    members = {member.address for member in parse_config(config_text).members if member.address}
    return not members.isdisjoint(part.strip() for part in configured.split(","))


def known_servers(configured: str, config_text: str) -> str:
    """Return `host:port,…`: the members first, then configured servers that are no members."""
    members = [member.address for member in parse_config(config_text).members if member.address]
    others = [part.strip() for part in configured.split(",") if part.strip() and part.strip() not in members]
    return ",".join([*members, *others])


class EnsembleHosts:
    """Follows the members from `start` on, once `configured` has named one of them.

    Below a chroot the ensemble's znode cannot be seen: it is left alone.
    """

    def __init__(self, session: ZooKeeperSession, configured: str):
        self._session = session
        self._servers, _, chroot = configured.partition("/")
        self._is_hidden = bool(chroot.strip("/"))
        self._known = self._servers
        self._is_followed = False
        self._watch: ZnodeWatch[str] | None = None

    def start(self) -> None:
        if not self._is_hidden:
            self._watch = ZnodeWatch(self._session, self._read, self._learn)

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()

    async def _read(self, watcher: Watcher) -> str:
        """Empty before ZooKeeper 3.5, which has no such znode."""
        if await self._session.exists(CONFIG_PATH, watcher) is None:
            return ""
        return (await self._session.get(CONFIG_PATH)).data.decode("utf-8", "replace")

    def _learn(self, config_text: str) -> None:
        self._is_followed = self._is_followed or names_a_member(self._servers, config_text)
        servers = known_servers(self._servers, config_text)
        if self._is_followed and servers != self._known:
            self._known = servers
            self._session.set_servers(servers)
            log.info("ZooKeeper servers known now", servers=servers)
