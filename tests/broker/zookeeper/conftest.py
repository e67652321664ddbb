"""A real ZooKeeper for this package; each test works below a chroot of its own."""

import itertools

import pytest

from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from tests.manual_clock import ManualClock

_chroots = itertools.count()


@pytest.fixture
def chroot():
    return f"/test-{next(_chroots)}"


@pytest.fixture
async def new_session(zookeeper, chroot):
    """Opens sessions that end with the test: `await new_session()`, or through another `port`."""
    opened = []

    async def open_session(session_timeout_ms: int = 4_000, port: int | None = None) -> ZooKeeperSession:
        connect = f"127.0.0.1:{port or zookeeper.port}{chroot}"
        session = ZooKeeperSession(connect, session_timeout_ms)
        await session.connect(10_000)
        opened.append(session)
        return session

    yield open_session
    for session in opened:
        await session.close()


@pytest.fixture
async def session(new_session):
    return await new_session()


@pytest.fixture
async def store(session):
    cluster = ClusterStore(session, ManualClock())
    await cluster.ensure_persistent_paths()
    return cluster
