"""Access lists against a real ZooKeeper: what a broker's session creates, and a cluster that began without them."""

import pytest

from broker.common.cluster import BrokerEndpoint, BrokerRegistration
from broker.common.errors import StartupError
from broker.common.types import TopicPartition
from broker.zookeeper import acl_migration, znodes
from broker.zookeeper.acl_migration import protect_cluster
from broker.zookeeper.acls import OPEN, SENSITIVE_PATHS, is_sensitive
from broker.zookeeper.digest_file import Digest
from broker.zookeeper.election import try_become_controller
from broker.zookeeper.errors import NotPermitted
from broker.zookeeper.session import Delete, SetData, ZnodeCreation, ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from tests.manual_clock import ManualClock

OWNER = Digest("kafka:the secret of the brokers")


@pytest.fixture
async def open_as(zookeeper, chroot):
    """`await open_as(digest)`: a session below the test's chroot, as that user; None: as nobody."""
    opened = []

    async def open_session(digest: Digest | None = None, *, sets_acls: bool | None = None) -> ZooKeeperSession:
        sets_acls = digest is not None if sets_acls is None else sets_acls
        session = ZooKeeperSession(f"{zookeeper.connect}{chroot}", 4_000, digest, sets_acls=sets_acls)
        await session.connect(10_000)
        opened.append(session)
        return session

    yield open_session
    for session in opened:
        await session.close()


def registration_of(broker_id: int) -> BrokerRegistration:
    return BrokerRegistration(broker_id, (BrokerEndpoint("PLAINTEXT", "h", 9092),), None)


async def cluster_by(session: ZooKeeperSession) -> ClusterStore:
    """What the first broker of a cluster makes, a topic and a configuration."""
    store = ClusterStore(session, ManualClock())
    await store.ensure_persistent_paths()
    await store.cluster_id()
    await store.create_topic("t", {0: (1,)}, {})
    await store.set_config("users", "alice", {"SCRAM-SHA-256": "salt=…"})
    assert await try_become_controller(session, 1, 0) is not None
    return store


async def tree(session: ZooKeeperSession, path: str = "/") -> list[str]:
    names = await session.children(path)
    below = [await tree(session, f"{path.rstrip('/')}/{name}") for name in names]
    return [path, *(deeper for one in below for deeper in one)]


async def open_znodes(session: ZooKeeperSession) -> list[str]:
    return [path for path in await tree(session) if await session.acls(path) == OPEN]


async def test_who_may_not_create_the_chroot_is_told_so_at_once(open_as, zookeeper, chroot):
    await open_as(OWNER)
    stranger = ZooKeeperSession(f"{zookeeper.connect}{chroot}/kafka", 4_000)
    with pytest.raises(StartupError, match=f"does not let this broker create {chroot}/kafka "):
        await stranger.connect(60_000)


async def test_what_a_broker_creates_is_changed_by_its_user_only(open_as):
    broker, stranger = await open_as(OWNER), await open_as()
    await cluster_by(broker)
    for change in (
        ZnodeCreation("/brokers/topics/theirs"),
        SetData("/brokers/topics/t", b"theirs"),
        Delete("/brokers/topics/t"),
        ZnodeCreation("/mine"),
    ):
        with pytest.raises(NotPermitted):
            await stranger.multi([change])
    with pytest.raises(NotPermitted):
        await stranger.protect("/brokers")
    assert await open_znodes(broker) == []


async def test_everybody_may_read_but_what_is_sensitive(open_as):
    broker, stranger = await open_as(OWNER), await open_as()
    await cluster_by(broker)
    assert (await stranger.get("/brokers/topics/t")).data == (await broker.get("/brokers/topics/t")).data
    with pytest.raises(NotPermitted):
        await stranger.get("/config/users/alice")
    with pytest.raises(NotPermitted):
        await stranger.children("/config/brokers")


async def test_another_broker_with_the_same_user_goes_on(open_as):
    await cluster_by(await open_as(OWNER))
    other = ClusterStore(await open_as(OWNER), ManualClock())
    await other.ensure_persistent_paths()
    await other.add_partitions("t", {1: (1,)})
    await other.set_config("users", "alice", {})
    await other.request_topic_deletion("t")


async def test_a_session_that_sets_none_leaves_its_znodes_open(open_as):
    """Kafka's first step of a rolling change: brokers know who they are, and protect nothing yet."""
    broker = await open_as(OWNER, sets_acls=False)
    await cluster_by(broker)
    assert await open_znodes(broker) == await tree(broker)


async def test_a_cluster_that_began_open_is_protected_as_if_it_had_not(open_as):
    await cluster_by(await open_as())
    broker = await open_as(OWNER)
    await broker.create("/isr_change_notification/isr_change_", b"", sequential=True)
    await protect_cluster(broker)
    assert await open_znodes(broker) == []
    with pytest.raises(NotPermitted):
        await (await open_as()).get("/config/users/alice")
    assert (await (await open_as()).get(znodes.CLUSTER_ID)).data


async def test_it_is_protected_once(open_as, monkeypatch):
    await cluster_by(await open_as())
    broker = await open_as(OWNER)
    await protect_cluster(broker)
    monkeypatch.delattr(ZooKeeperSession, "children")
    await protect_cluster(broker)


async def test_one_that_was_interrupted_is_finished(open_as, monkeypatch):
    await cluster_by(await open_as())
    broker = await open_as(OWNER)
    with monkeypatch.context() as patch:
        patch.setattr(acl_migration, "_ROOTS", ("/brokers", "/cluster", None))
        with pytest.raises(TypeError):
            await protect_cluster(broker)
    assert "/config" in await open_znodes(broker)
    await protect_cluster(broker)
    assert await open_znodes(broker) == []


async def test_an_access_list_that_somebody_has_set_stays(open_as):
    await cluster_by(await open_as())
    broker, other = await open_as(OWNER), await open_as(Digest("other:user"))
    await other.protect("/brokers/topics/t")
    set_by_other = await other.acls("/brokers/topics/t")
    await protect_cluster(broker)
    assert await other.acls("/brokers/topics/t") == set_by_other


async def test_nothing_is_protected_while_a_broker_without_the_user_is_registered(open_as):
    """It could neither write an ISR nor become controller any more."""
    store = await cluster_by(await open_as())
    await store.register_broker(registration_of(1))
    broker = await open_as(OWNER)
    await ClusterStore(broker, ManualClock()).register_broker(registration_of(2))
    await protect_cluster(broker)
    assert "/brokers" in await open_znodes(broker)
    await store.unregister_broker(1)
    await protect_cluster(broker)
    assert await open_znodes(broker) == []


async def test_what_the_controller_writes_is_protected(open_as):
    """States and their parents come in transactions."""
    broker = await open_as(OWNER)
    store = await cluster_by(broker)
    path = znodes.state_path(TopicPartition("t", 0))
    await broker.multi(
        [ZnodeCreation(znodes.partitions_path("t")), ZnodeCreation(znodes.partition_path(TopicPartition("t", 0)))]
    )
    await broker.create(path, b"{}")
    assert await open_znodes(store.session) == []


def test_a_path_is_sensitive_with_all_below_it_and_none_beside_it():
    assert all(is_sensitive(path) and is_sensitive(f"{path}/x") for path in SENSITIVE_PATHS)
    assert not is_sensitive("/config")
    assert not is_sensitive("/config/users-of-old")
