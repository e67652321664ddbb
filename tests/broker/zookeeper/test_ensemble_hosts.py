"""A broker learns of members that join while it runs."""

import asyncio

import pytest

from broker.zookeeper.ensemble_config import CONFIG_PATH
from broker.zookeeper.ensemble_hosts import EnsembleHosts, known_servers
from broker.zookeeper.errors import NodeMissing
from broker.zookeeper.session import Znode, ZooKeeperSession

ONE = "server.1=127.0.0.1:2888:3888:participant;127.0.0.1:2181\nversion=1"
THREE = "\n".join(f"server.{n}=127.0.0.1:{2880 + n}:{3880 + n}:participant;127.0.0.1:{2180 + n}" for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("configured", "config", "expected"),
    [
        ("127.0.0.1:2181", THREE, "127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183"),
        ("zk.example.org:2181", ONE, "127.0.0.1:2181,zk.example.org:2181"),
        ("127.0.0.1:2181", "", "127.0.0.1:2181"),
        ("a:1, b:2", "server.1=h:2888:3888", "a:1,b:2"),
    ],
)
def test_members_come_first_and_what_was_configured_is_kept(configured, config, expected):
    assert known_servers(configured, config) == expected


class EnsembleSession:
    """A session of an ensemble whose members the test changes."""

    def __init__(self, config: str | None):
        self.config = config
        self.watchers, self.server_lists = [], []
        self.has_looked, self.is_told = asyncio.Event(), asyncio.Event()

    async def exists(self, path, watcher):
        assert path == CONFIG_PATH
        self.watchers.append(watcher)
        self.has_looked.set()
        return None if self.config is None else Znode(b"", 0, 0, 0, 0)

    async def get(self, path):
        if self.config is None:
            raise NodeMissing(path, "")
        return Znode(self.config.encode(), 0, 0, 0, 0)

    def set_servers(self, servers):
        self.server_lists.append(servers)
        self.is_told.set()

    def change(self, config: str) -> None:
        self.config = config
        for watcher in self.watchers:
            watcher()


async def test_a_change_of_the_members_reaches_the_client():
    session = EnsembleSession(ONE)
    hosts = EnsembleHosts(session, "127.0.0.1:2181")
    hosts.start()
    async with asyncio.timeout(10):
        await session.has_looked.wait()
        session.change(THREE)
        await session.is_told.wait()
    hosts.close()

    assert session.server_lists == ["127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183"]


async def test_the_way_through_a_relay_is_kept():
    session = EnsembleSession(ONE)
    hosts = EnsembleHosts(session, "127.0.0.1:32181")
    hosts.start()
    async with asyncio.timeout(10):
        await session.has_looked.wait()
        for config in (THREE, ONE):  # the second look tells that the first has been thought about
            looked_at = len(session.watchers)
            session.change(config)
            while len(session.watchers) == looked_at:
                await asyncio.sleep(0)
    hosts.close()

    assert session.server_lists == []


async def test_members_are_followed_when_none_of_the_first_is_left():
    session = EnsembleSession(ONE)
    hosts = EnsembleHosts(session, "127.0.0.1:2181")
    hosts.start()
    async with asyncio.timeout(10):
        await session.has_looked.wait()
        for config in (THREE, "\n".join(THREE.splitlines()[1:])):
            session.is_told.clear()
            session.change(config)
            await session.is_told.wait()
    hosts.close()

    assert session.server_lists[-1] == "127.0.0.1:2182,127.0.0.1:2183,127.0.0.1:2181"


async def test_an_ensemble_that_keeps_no_list_is_left_alone():
    session = EnsembleSession(None)
    hosts = EnsembleHosts(session, "127.0.0.1:2181")
    hosts.start()
    async with asyncio.timeout(10):
        await session.has_looked.wait()
    hosts.close()

    assert session.server_lists == []


async def test_below_a_chroot_the_list_cannot_be_seen():
    session = EnsembleSession(THREE)
    EnsembleHosts(session, "127.0.0.1:2181/kafka").start()

    assert session.watchers == []


async def test_servers_of_a_session_may_change_below_a_chroot():
    session = ZooKeeperSession("127.0.0.1:1/kafka", 1_000)
    session.set_servers("127.0.0.1:2,127.0.0.1:3")

    assert sorted(session._client.hosts) == [("127.0.0.1", 2), ("127.0.0.1", 3)]
