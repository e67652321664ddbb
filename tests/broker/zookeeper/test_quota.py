"""A server as `make up` starts it: who fills it meets an error, and what is in it lives on."""

import asyncio
import contextlib

import pytest

from broker.common.cluster import NOT_WRITTEN, LeaderAndIsr
from broker.common.errors import ErrorCode
from broker.common.limits import ZOOKEEPER_REQUEST_BYTES_MAX, ZOOKEEPER_REQUESTS_REMEMBERED
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.zookeeper.acls import OPEN
from broker.zookeeper.assignment_writes import write_assignments
from broker.zookeeper.controller_store import ControllerStore
from broker.zookeeper.digest_file import Digest
from broker.zookeeper.election import try_become_controller
from broker.zookeeper.errors import (
    ConnectionInterrupted,
    NodeMissing,
    NotPermitted,
    QuotaExceeded,
    SessionLost,
    answer_of,
)
from broker.zookeeper.quota import QUOTA_PATH, QUOTAS, Amount, encode_limits, limits_path, used_path
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from tests.eventually import eventually
from tests.manual_clock import ManualClock
from tests.zookeeper_server import await_zookeeper, running_zookeeper, start_zookeeper

OWNER = Digest("kafka:the secret of the brokers")
SUPER = Digest("super:the ensemble's own")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    directory = tmp_path_factory.mktemp("guarded")
    (directory / "password").write_text("the ensemble's own\n")
    with running_zookeeper(directory / "zookeeper", super_password_file=directory / "password") as server:
        yield server


@contextlib.asynccontextmanager
async def session_of(server, digest: Digest | None = None):
    session = ZooKeeperSession(server.connect, 30_000, digest, sets_acls=digest is not None)
    await session.connect(10_000)
    try:
        yield session
    finally:
        await session.close()


async def until_guarded(session: ZooKeeperSession) -> None:
    async with asyncio.timeout(20):
        while any([await session.exists(used_path(root)) is None for root in QUOTAS]):
            await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def cluster_with(server, quota: Amount):
    """The store of a broker below a quota of that size, and the writes of the controller; removed at the end."""
    async with session_of(server, OWNER) as broker, session_of(server, SUPER) as operator:
        await until_guarded(broker)
        store = ClusterStore(broker, ManualClock())
        await store.ensure_persistent_paths()
        term = await try_become_controller(broker, 1, 0)
        assert term is not None
        for root in QUOTAS:
            await operator.set(limits_path(root), encode_limits(quota))
        try:
            yield store, ControllerStore(store, term)
        finally:
            for root, ours in QUOTAS.items():
                await operator.set(limits_path(root), encode_limits(ours))
            for name in await store.topic_names():
                await ControllerStore(store, term).remove_topic(name)


async def create_topics(store: ClusterStore, count: int) -> None:
    for number in range(count):
        await store.create_topic(f"t-{number}", {0: (1,)}, {})


async def test_quotas_are_set_and_nobody_else_changes_them(guarded):
    async with session_of(guarded) as stranger:
        await until_guarded(stranger)
        for root, quota in QUOTAS.items():
            assert (await stranger.get(limits_path(root))).data == encode_limits(quota)
            with pytest.raises(NotPermitted):
                await stranger.set(limits_path(root), b"")
        for parent in ("/zookeeper", QUOTA_PATH, f"{QUOTA_PATH}/brokers"):
            assert await stranger.acls(parent) != OPEN
            with pytest.raises(NotPermitted):
                await stranger.create(f"{parent}/mine", b"filled")


@pytest.mark.long
async def test_a_server_that_starts_again_keeps_them_and_puts_right_what_is_not_so(tmp_path):
    (tmp_path / "password").write_text("the ensemble's own\n")
    arguments = (tmp_path / "zookeeper", None, tmp_path / "password")
    with running_zookeeper(*arguments) as server:
        async with session_of(server, SUPER) as operator:
            await until_guarded(operator)
            await operator.set(limits_path("/brokers"), b"count=-1,bytes=-1")
    server = start_zookeeper(*arguments)
    try:
        await_zookeeper(server)
        async with session_of(server) as session:
            await eventually(lambda: "quota changed" in server.log(), "the quota is as it was")
            assert (await session.get(limits_path("/brokers"))).data == encode_limits(QUOTAS["/brokers"])
    finally:
        server.stop()


async def test_an_anonymous_client_cannot_fill_the_heap_with_writes_that_are_refused(guarded):
    """The server remembers refused writes too; with 64 MB, forty of a megabyte ended it."""
    async with session_of(guarded, OWNER) as broker:
        await broker.protect("/")
    async with session_of(guarded) as stranger:
        data = bytes(ZOOKEEPER_REQUEST_BYTES_MAX - 200)
        for _ in range(ZOOKEEPER_REQUESTS_REMEMBERED + 50):
            with pytest.raises(NotPermitted):
                await stranger.create("/filled", data)
        with pytest.raises((ConnectionInterrupted, SessionLost)):
            await stranger.create("/filled", bytes(1_000_000))
    assert guarded.process.poll() is None
    assert "OutOfMemory" not in guarded.log()


async def test_topics_end_in_an_error_and_can_be_deleted_to_make_room(guarded):
    async with cluster_with(guarded, Amount(100, 1_000_000)) as (store, writes):
        with pytest.raises(QuotaExceeded) as refused:
            await create_topics(store, 100)
        assert answer_of(refused.value).code is ErrorCode.POLICY_VIOLATION
        names = await store.topic_names()
        assert names
        await store.request_topic_deletion(names[0])
        for name in names[:3]:
            await writes.remove_topic(name)
        await store.create_topic("afterwards", {0: (1,)}, {})


async def test_large_topics_and_added_partitions_are_counted_by_what_they_will_take(guarded):
    async with cluster_with(guarded, Amount(1_000, 40_000)) as (store, _):
        with pytest.raises(QuotaExceeded, match="bytes are used"):
            await store.create_topic("large", dict.fromkeys(range(390), (1, 2, 3)), {})
        await store.create_topic("small", {0: (1,)}, {})
        with pytest.raises(QuotaExceeded, match="znodes are used"):
            await store.add_partitions("small", dict.fromkeys(range(1, 400), (1,)))
        await store.add_partitions("small", {1: (1,)})


async def test_a_configuration_may_shrink_where_none_may_grow(guarded):
    async with cluster_with(guarded, Amount(1_000, 20_000)) as (store, _):
        await store.set_config("topics", "t", {"retention.ms": "9" * 14_000})
        with pytest.raises(QuotaExceeded):
            await store.set_config("topics", "u", {"retention.ms": "9" * 3_000})
        await store.set_config("topics", "t", {})
        await store.set_config("topics", "u", {"retention.ms": "9" * 3_000})
        await store.set_config("topics", "u", {})


async def test_the_controller_goes_on_where_a_state_has_no_room(guarded):
    """Another client may have taken the last of it; the states of other partitions are written all the same."""
    first = LeaderAndIsr(1, 0, (1,), 1, zk_version=NOT_WRITTEN)
    async with cluster_with(guarded, Amount(100, 1_000_000)) as (store, writes), session_of(guarded, SUPER) as operator:
        await store.create_topic("old", {0: (1,)}, {})
        await store.create_topic("new", {0: (1,), 1: (1,)}, {})
        old, new = TopicPartition("old", 0), [TopicPartition("new", index) for index in range(2)]
        written, _ = await writes.write_states({old: first})
        await operator.set(limits_path("/brokers"), encode_limits(Amount(5, 1_000_000)))
        next_state = LeaderAndIsr(2, 1, (2,), 1, zk_version=written[old].zk_version)
        written, standing = await writes.write_states({old: next_state, new[0]: first, new[1]: first})
        assert set(written) == {old}
        assert standing == {}


async def test_the_largest_topic_fits_into_one_request_and_what_does_not_is_refused_before_it_is_sent(guarded):
    """ZooKeeper ends the connection of whoever sends it more than it reads."""
    async with cluster_with(guarded, QUOTAS["/brokers"]) as (store, writes):
        largest = dict.fromkeys(range(10000), (100, 101, 102))
        await store.create_topic("largest", largest, {})
        with pytest.raises(QuotaExceeded, match="at once"):
            await store.create_topic("larger", dict.fromkeys(range(10000), (100, 101, 102, 103, 104)), {})
        topic = await store.topic("largest")
        elsewhere = ReplicaAssignment((100, 101, 102)).reassigned_to((103, 104, 105))
        moving = {TopicPartition("largest", index): elsewhere for index in range(500)}
        ids = {"largest": topic.topic_id}
        assert await write_assignments(store.session, writes, moving, ids) == moving
        all_of_it = {TopicPartition("largest", index): elsewhere for index in range(10_000)}
        assert await write_assignments(store.session, writes, all_of_it, ids) == {}


async def test_without_a_quota_nothing_is_refused(session):
    store = ClusterStore(session, ManualClock())
    with pytest.raises(NodeMissing):
        await session.get(limits_path("/brokers"))
    await store.ensure_persistent_paths()
    await store.create_topic("t", {0: (1,)}, {})
