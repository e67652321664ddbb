"""What brokers write, on a real server."""

import asyncio
import uuid

import pytest
from kazoo.security import make_digest_acl

from broker.common.cluster import BrokerEndpoint, BrokerRegistration
from broker.common.errors import ApiError, ErrorCode, StartupError
from broker.common.types import TopicPartition
from broker.zookeeper import store as store_module
from broker.zookeeper import znodes
from broker.zookeeper.errors import MalformedZnode, OperationRefused
from broker.zookeeper.store import ClusterStore
from tests.manual_clock import ManualClock

ONE = BrokerRegistration(1, (BrokerEndpoint("PLAINTEXT", "127.0.0.1", 9092),))


async def _store(session) -> ClusterStore:
    return ClusterStore(session, ManualClock())


async def test_tree_is_what_a_kafka_user_expects(store):
    await store.cluster_id()
    assert await store.session.children("/brokers") == ["ids", "seqid", "topics"]
    assert await store.session.children("/config") == ["brokers", "changes", "clients", "ips", "topics", "users"]
    await store.ensure_persistent_paths()


async def test_cluster_id_is_made_once(store, new_session):
    first = await store.cluster_id()
    assert len(first) == 22
    assert await (await _store(await new_session())).cluster_id() == first


async def test_registered_broker_is_seen_with_its_epoch(store):
    epoch = await store.register_broker(ONE)
    seen = await store.brokers()
    assert seen[1].registration == ONE
    assert seen[1].epoch == epoch == (await store.session.exists("/brokers/ids/1")).czxid


async def test_the_secret_is_made_once(store, new_session):
    first = await store.cluster_secret()
    assert len(first) == 32
    assert await (await _store(await new_session())).cluster_secret() == first


@pytest.mark.parametrize("data", [b"", b"{}", b'{"secret":7}', b'{"secret":"AAAA"}', b'{"secret":"?"}'])
async def test_a_secret_that_is_none_is_refused(store, data):
    await store.session.ensure("/barnabas")
    await store.session.create(znodes.SECRET, data)
    with pytest.raises(MalformedZnode, match="/barnabas/secret"):
        await store.cluster_secret()


async def test_znodes_that_are_no_topics_are_passed_over_and_told_of_once(store, capsys):
    for name in ("a" * 300, "with space", "good", "ü", ".hidden"):
        for parent in (znodes.TOPICS, znodes.DELETE_TOPICS):
            await store.session.create(f"{parent}/{name}")
    for _ in range(2):
        assert await store.topic_names() == [".hidden", "good"]
        assert await store.topics_to_delete() == [".hidden", "good"]
    assert capsys.readouterr().out.count("znode ignored") == 6


async def test_brokers_whose_znodes_can_be_none_are_passed_over(store):
    await store.register_broker(ONE)
    for name in ("99999999999", "9" * 5000, "x", "-1", "007"):
        await store.session.create(f"{znodes.BROKER_IDS}/{name}", b"{}")
    await store.session.create(f"{znodes.BROKER_IDS}/2", b'{"endpoints":["A://h:%s"]}' % (b"9" * 5000))
    await store.session.create(f"{znodes.BROKER_IDS}/3", b'{"endpoints":["A://h:1"],"rack":7}')
    await store.session.create(f"{znodes.BROKER_IDS}/4", b'{"endpoints":7}')
    await store.session.create(
        f"{znodes.BROKER_IDS}/5", b'{"endpoints":["A://h:1"],"listener_security_protocol_map":[1]}'
    )
    assert list(await store.brokers()) == [1]


async def test_the_epoch_of_a_controller_and_of_a_registration_are_read_anew(store, new_session):
    assert await store.controller_epoch() == 0
    await store.session.create(znodes.CONTROLLER_EPOCH, b"7")
    assert await store.controller_epoch() == 7
    assert await store.own_epoch(1) == -1
    epoch = await store.register_broker(ONE)
    assert await store.own_epoch(1) == epoch
    assert await (await _store(await new_session())).own_epoch(1) == -1


async def test_registering_again_in_the_same_session_keeps_the_epoch(store):
    assert await store.register_broker(ONE) == await store.register_broker(ONE)


async def test_registration_waits_until_the_earlier_life_is_over(store, new_session):
    earlier = await new_session()
    first = await (await _store(earlier)).register_broker(ONE)
    waiting = asyncio.ensure_future(store.register_broker(ONE))
    done, _ = await asyncio.wait([waiting], timeout=0.1)
    assert not done
    await earlier.close()
    assert await waiting > first


async def test_id_of_a_live_broker_is_refused(store, new_session, monkeypatch):
    monkeypatch.setattr(store_module, "_EXPIRY_GRACE_MS", 0)
    await store.register_broker(ONE)
    newcomer = await _store(await new_session(session_timeout_ms=1_000))
    with pytest.raises(StartupError, match=r"broker\.id=1 is taken"):
        await newcomer.register_broker(ONE)


async def test_unregistering_leaves_another_sessions_broker_alone(store, new_session):
    await store.register_broker(ONE)
    await (await _store(await new_session())).unregister_broker(1)
    assert 1 in await store.brokers()
    await store.unregister_broker(1)
    assert await store.brokers() == {}


async def test_broker_that_cannot_be_read_is_left_out(store):
    await store.register_broker(ONE)
    await store.session.create("/brokers/ids/2", b"garbage")
    assert list(await store.brokers()) == [1]


async def test_created_topic_has_config_and_assignment(store):
    created = await store.create_topic("t", {0: (1,), 1: (2,)}, {"retention.ms": "5"})
    assert await store.topic("t") == created
    assert await store.config("topics", "t") == {"retention.ms": "5"}
    assert await store.topic_names() == ["t"]
    assert await store.states([TopicPartition("t", 0)]) == {}


async def test_creating_an_existing_topic_changes_nothing(store):
    created = await store.create_topic("t", {0: (1,)}, {"retention.ms": "5"})
    with pytest.raises(ApiError) as refusal:
        await store.create_topic("t", {0: (2,)}, {"retention.ms": "6"})
    assert refusal.value.code is ErrorCode.TOPIC_ALREADY_EXISTS
    assert await store.topic("t") == created
    assert await store.config("topics", "t") == {"retention.ms": "5"}


async def test_of_two_who_create_a_topic_at_once_one_is_refused(store, new_session):
    other = await _store(await new_session())
    outcomes = await asyncio.gather(
        store.create_topic("t", {0: (1,)}, {}), other.create_topic("t", {0: (2,)}, {}), return_exceptions=True
    )
    assert [isinstance(outcome, ApiError) for outcome in outcomes].count(True) == 1
    assert await store.topic("t") in outcomes


async def test_topic_that_cannot_be_read_is_left_out(store):
    await store.session.create("/brokers/topics/bad", b"garbage")
    assert await store.topics(await store.topic_names()) == []


async def test_a_topic_that_brokers_may_not_read_is_left_out_and_keeps_no_broker_from_starting(store):
    await store.create_topic("t", {0: (1,)}, {"retention.ms": "1000"})
    await store.create_topic("theirs", {0: (1,)}, {"retention.ms": "1000"})
    somebody_else = [make_digest_acl("cmak", "secret", all=True)]
    for path in ("/brokers/topics/theirs", "/config/topics/theirs"):
        store.session._client.set_acls_async(path, somebody_else).get(timeout=10)
    assert [topic.topic for topic in await store.topics(await store.topic_names())] == ["t"]
    assert await store.has_unreadable_topic("theirs")
    assert await store.partition_exists(TopicPartition("theirs", 0))
    with pytest.raises(MalformedZnode, match="/config/topics/theirs: its access list does not let this broker read it"):
        await store.config("topics", "theirs")


async def test_deletion_is_asked_for_once_and_only_of_what_exists(store):
    await store.create_topic("t", {0: (1,)}, {})
    await store.request_topic_deletion("t")
    await store.request_topic_deletion("t")
    assert await store.topics_to_delete() == ["t"]
    with pytest.raises(ApiError) as refusal:
        await store.request_topic_deletion("unknown")
    assert refusal.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_deletion_of_a_topic_by_its_id_is_not_that_of_a_later_topic_of_the_name(store):
    created = await store.create_topic("t", {0: (1,)}, {})
    with pytest.raises(ApiError) as refusal:
        await store.request_topic_deletion("t", uuid.uuid4())
    assert refusal.value.code is ErrorCode.UNKNOWN_TOPIC_ID
    assert await store.topics_to_delete() == []
    await store.request_topic_deletion("t", created.topic_id)
    assert await store.topics_to_delete() == ["t"]


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a/b", "t/partitions", "../ids", "\0", "x" * 250, "é"])
async def test_deletion_of_what_cannot_be_a_name_is_of_no_topic(store, name):
    await store.create_topic("t", {0: (1,)}, {})
    await store.session.create("/brokers/topics/t/partitions")
    with pytest.raises(ApiError) as refusal:
        await store.request_topic_deletion(name)
    assert refusal.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await store.topics_to_delete() == []


async def test_partition_exists_until_its_topic_is_to_be_deleted(store):
    await store.create_topic("t", {0: (1,), 1: (1,)}, {})
    await store.session.create("/brokers/topics/bad", b"garbage")
    expected = {("t", 1): True, ("t", 2): False, ("unknown", 0): False, ("bad", 0): True}
    assert {item: await store.partition_exists(TopicPartition(*item)) for item in expected} == expected
    await store.request_topic_deletion("t")
    assert not await store.partition_exists(TopicPartition("t", 1))


async def test_trap_33_producer_ids_are_never_given_twice(store, new_session):
    other = await _store(await new_session())
    claims = [one.claim_producer_ids(number) for number, one in enumerate([store, other] * 4)]
    blocks = await asyncio.gather(*claims)
    assert sorted(block.start for block in blocks) == [1_000 * number for number in range(8)]
    assert all(len(block) == 1_000 for block in blocks)


async def test_set_config_notifies(store):
    await store.set_config("topics", "t", {"retention.ms": "7"})
    (name,) = await store.session.children(znodes.CONFIG_CHANGES)
    change = await store.session.get(f"{znodes.CONFIG_CHANGES}/{name}")
    assert name == "config_change_0000000000"
    assert change.data == b'{"version":2,"entity_path":"topics/t"}'
    assert await store.config("topics", "t") == {"retention.ms": "7"}


async def test_changes_made_at_the_same_time_are_all_kept(store, new_session):
    other = await _store(await new_session())

    def adding(key: str):
        return lambda present: {**present, key: "1"}

    keys = [f"key{number}" for number in range(6)]
    changes = [one.change_config("topics", "t", adding(key)) for key, one in zip(keys, [store, other] * 3, strict=True)]
    await asyncio.gather(*changes)
    assert await store.config("topics", "t") == dict.fromkeys(keys, "1")
    assert len(await store.session.children(znodes.CONFIG_CHANGES)) == 6


async def test_change_that_is_refused_writes_and_tells_nothing(store):
    def refuse(_present):
        raise ApiError(ErrorCode.INVALID_CONFIG)

    with pytest.raises(ApiError):
        await store.change_config("topics", "t", refuse)
    assert await store.session.exists(znodes.config_path("topics", "t")) is None
    assert await store.session.children(znodes.CONFIG_CHANGES) == []


async def test_missing_root_is_an_error_and_not_a_loop(session):
    bare = await _store(session)
    with pytest.raises(OperationRefused, match="/config/topics is missing"):
        await bare.create_topic("t", {0: (1,)}, {})
