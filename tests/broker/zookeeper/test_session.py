"""The client on a real server: results and refusals, transactions, watches, and what a broken connection does."""

import asyncio

import pytest
from kazoo.client import KazooClient

from broker.common.errors import StartupError
from broker.zookeeper.errors import ConnectionInterrupted, NodeExists, NodeMissing, NodeNotEmpty, WrongVersion
from broker.zookeeper.session import Check, Delete, SessionState, SetData, ZnodeCreation, ZooKeeperSession
from tests.eventually import eventually
from tests.severable_proxy import SeverableProxy
from tests.zookeeper_server import free_ports


async def test_unreachable_zookeeper_is_one_sentence():
    session = ZooKeeperSession(f"127.0.0.1:{free_ports(1)[0]}", 4_000)
    with pytest.raises(StartupError, match="did not answer at 127"):
        await session.connect(300)


def test_address_that_is_none_is_one_sentence():
    with pytest.raises(StartupError, match=r"zookeeper\.connect=h:port"):
        ZooKeeperSession("h:port", 4_000)


async def test_chroot_is_created_and_hidden(zookeeper, new_session, chroot):
    session = await new_session()
    await session.create("/a", b"x")
    plain = ZooKeeperSession(zookeeper.connect, 4_000)
    await plain.connect(5_000)
    assert (await plain.get(f"{chroot}/a")).data == b"x"
    await plain.close()


async def test_read_and_conditional_write(session):
    assert await session.create("/a", b"1") == "/a"
    assert await session.set("/a", b"2", 0) == 1
    znode = await session.get("/a")
    assert (znode.data, znode.version, znode.ephemeral_owner) == (b"2", 1, 0)
    with pytest.raises(WrongVersion):
        await session.set("/a", b"3", 0)
    await session.delete("/a", 1)
    assert await session.exists("/a") is None


async def test_refusals_have_names(session):
    await session.ensure("/a/b")
    with pytest.raises(NodeExists):
        await session.create("/a")
    with pytest.raises(NodeMissing):
        await session.get("/none")
    with pytest.raises(NodeMissing):
        await session.create("/none/child")
    with pytest.raises(NodeNotEmpty):
        await session.delete("/a")


async def test_sequential_znodes_are_numbered(session):
    assert await session.create("/n_", sequential=True) == "/n_0000000000"
    assert await session.create("/n_", sequential=True) == "/n_0000000001"


async def test_transaction_does_all(session):
    await session.create("/a", b"1")
    results = await session.multi(
        [
            Check("/a", 0),
            SetData("/a", b"2", 0),
            ZnodeCreation("/b", b"", ephemeral=True),
            ZnodeCreation("/c"),
            Delete("/c"),
        ]
    )
    assert results == [True, 1, "/b", "/c", True]
    assert (await session.exists("/b")).ephemeral_owner == session.session_id


async def test_transaction_does_nothing_and_names_the_operation_that_was_refused(session):
    await session.create("/a", b"1")
    with pytest.raises(WrongVersion) as refusal:
        await session.multi([ZnodeCreation("/b"), Check("/a", 7), ZnodeCreation("/c")])
    assert refusal.value.path == "/a"
    assert await session.children("/") == ["a"]


async def test_watch_tells_once_on_the_loop(session):
    messages = []
    await session.ensure("/a")
    await session.children("/a", lambda: messages.append(asyncio.get_running_loop()))
    await session.create("/a/1")
    await eventually(lambda: messages, "children watch")
    await session.create("/a/2")
    await session.get("/a")
    assert messages == [asyncio.get_running_loop()]


async def test_watch_on_what_does_not_exist_tells_of_its_creation(session):
    messages = []
    assert await session.exists("/a", lambda: messages.append(1)) is None
    await session.create("/a")
    await eventually(lambda: messages, "exists watch")


async def test_broken_connection_is_suspended_and_the_session_lives_on(zookeeper, new_session):
    async with SeverableProxy(zookeeper.port) as proxy:
        session = await new_session(port=proxy.port)
        states, fired = [], []
        session.on_state(states.append)
        before = session.session_id
        await session.create("/mine", ephemeral=True)
        await session.get("/mine", lambda: fired.append(1))
        proxy.cut()
        await eventually(lambda: states == [SessionState.SUSPENDED], "suspended")
        await eventually(lambda: fired, "watch fired because it is gone")
        proxy.mend()
        await eventually(lambda: session.state is SessionState.CONNECTED, "connected again")
        assert session.session_id == before
        assert (await session.exists("/mine")).ephemeral_owner == before
        await session.close()


async def test_request_under_way_when_the_connection_breaks_has_an_unknown_outcome(zookeeper, new_session):
    async with SeverableProxy(zookeeper.port) as proxy:
        session = await new_session(port=proxy.port)
        zookeeper.suspend()
        try:
            request = asyncio.ensure_future(session.create("/a"))
            await asyncio.sleep(0)
            proxy.cut()
            with pytest.raises(ConnectionInterrupted):
                await request
        finally:
            zookeeper.resume()
        await session.close()


async def test_expired_session_is_lost_and_another_begins(zookeeper, new_session):
    async with SeverableProxy(zookeeper.port) as proxy:
        session = await new_session(port=proxy.port)
        states = []
        session.on_state(states.append)
        before = session.session_id
        await session.create("/mine", ephemeral=True)
        proxy.cut()
        await asyncio.to_thread(end_session, zookeeper, session)
        proxy.mend()
        await eventually(lambda: states[-1:] == [SessionState.CONNECTED], "connected under a new session")
        assert states == [SessionState.SUSPENDED, SessionState.LOST, SessionState.CONNECTED]
        assert session.session_id not in (0, before)
        assert await session.exists("/mine") is None
        await session.close()


async def test_closing_removes_ephemeral_znodes_at_once(new_session, session):
    other = await new_session()
    await other.create("/theirs", ephemeral=True)
    await other.close()
    assert await session.exists("/theirs") is None


def end_session(zookeeper, session) -> None:
    """What expiry does, without the wait: another client takes the session over and closes it."""
    thief = KazooClient(zookeeper.connect, client_id=session._client.client_id, timeout=4)
    thief.start()
    thief.stop()
    thief.close()
