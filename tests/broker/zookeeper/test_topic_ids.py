"""Ids are written into znodes that have none, by a real server's word; everything else in them stays."""

from uuid import UUID

import pytest
from kazoo.security import make_acl
from structlog.testing import capture_logs

from broker.common.cluster import NO_LOG, LeaderAndIsr, LogLoss, TopicAssignment
from broker.common.types import NO_LEADER_EPOCH, NO_TOPIC_ID, TopicPartition
from broker.controller.topic_ids import objections_to_new_id
from broker.zookeeper.assignment_writes import ReplicaAssignment, write_assignments
from broker.zookeeper.controller_store import ControllerMoved, ControllerStore
from broker.zookeeper.election import try_become_controller
from broker.zookeeper.quota import limits_path
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.topic_ids import identify_topics, restore_topic_id

KNOWN = UUID(int=7)
#: The zxid of a broker that has restored the ids its logs note since everything was written.
LATER = 2**62
OF_CMAK = b'{"version":1,"partitions":{"0":[1,2],"1":[2,1]}}'
OF_KAFKA_2_7 = b'{"version":2,"partitions":{"0":[1,2,3]},"adding_replicas":{"0":[3]},"removing_replicas":{"0":[1]}}'


@pytest.fixture
async def writes(store: ClusterStore) -> ControllerStore:
    return ControllerStore(store, await try_become_controller(store.session, 1, 5))


async def with_state(writes: ControllerStore, isr: tuple[int, ...]) -> LeaderAndIsr:
    written, _ = await writes.write_states({TopicPartition("t", 0): LeaderAndIsr(isr[0], 4, isr, 1)})
    return written[TopicPartition("t", 0)]


async def test_a_known_id_is_written_back_beside_what_the_tool_wrote(store, writes):
    topic = await store.create_topic("t", {0: (1, 2, 3)}, {})
    state = await with_state(writes, (2,))
    await store.session.set("/brokers/topics/t", OF_KAFKA_2_7)
    identified = await identify_topics(store, writes, {"t": topic.topic_id}, {}, objections_to_new_id, {})
    assert identified.assignments == {"t": TopicAssignment("t", topic.topic_id, {0: (1, 2, 3)}, {0: (3,)}, {0: (1,)})}
    assert identified.states == {TopicPartition("t", 0): state}
    assert await store.topic("t") == identified.assignments["t"]


async def test_each_topic_made_without_an_id_gets_one_of_its_own(store, writes):
    for name in "ab":
        await store.session.create(f"/brokers/topics/{name}", OF_CMAK)
    identified = await identify_topics(store, writes, {"a": None, "b": None}, {}, objections_to_new_id, {})
    ids = {(await store.topic(name)).topic_id for name in "ab"}
    assert len(ids - {NO_TOPIC_ID}) == 2
    assert {topic.topic_id for topic in identified.assignments.values()} == ids


async def test_a_topic_whose_id_zookeeper_refuses_keeps_no_other_from_its_own(store, writes):
    for name in "ab":
        await store.session.create(f"/brokers/topics/{name}", OF_CMAK)
    read_only = [make_acl("world", "anyone", read=True)]
    store.session._client.set_acls_async("/brokers/topics/a", read_only).get(timeout=10)
    identified = await identify_topics(store, writes, {"a": None, "b": None}, {}, objections_to_new_id, {})
    assert (identified.assignments.keys(), identified.unknown) == ({"b"}, {"a"})
    assert (await store.topic("b")).has_id


async def test_an_unknown_id_waits_for_a_broker_in_sync(store, writes):
    await store.session.create("/brokers/topics/t", OF_CMAK)
    await with_state(writes, (2,))
    identified = await identify_topics(store, writes, {"t": None}, {1: LATER}, objections_to_new_id, {})
    assert (identified.assignments, identified.unknown) == ({}, {"t"})
    assert not (await store.topic("t")).has_id
    identified = await identify_topics(store, writes, {"t": None}, {1: LATER, 2: LATER}, objections_to_new_id, {})
    assert (await store.topic("t")).topic_id == identified.assignments["t"].topic_id != NO_TOPIC_ID


async def test_a_look_from_before_the_id_was_lost_is_no_proof_that_no_log_notes_it(store, writes):
    """The broker may be dead and its session not over, or have registered long after its look: seeds found both."""
    await store.session.create("/brokers/topics/t", OF_CMAK)
    await with_state(writes, (2,))
    lost_at = (await store.session.get("/brokers/topics/t")).mzxid
    assert lost_at > 0
    for restored_at, unknown in ((lost_at - 1, {"t"}), (lost_at, set())):
        identified = await identify_topics(store, writes, {"t": None}, {2: restored_at}, objections_to_new_id, {})
        assert identified.unknown == unknown


async def test_a_new_id_needs_a_broker_in_sync_of_each_partition(store, writes):
    """Broker 1 lost its log, or that one notes no id; those of partition 1 note one, and would be set aside."""
    await store.session.create("/brokers/topics/t", OF_CMAK)
    await with_state(writes, (1,))
    await writes.write_states({TopicPartition("t", 1): LeaderAndIsr(2, 4, (2,), 1)})
    identified = await identify_topics(store, writes, {"t": None}, {1: LATER}, objections_to_new_id, {})
    assert identified.unknown == {"t"}
    identified = await identify_topics(store, writes, {"t": None}, {1: LATER, 2: LATER}, objections_to_new_id, {})
    assert identified.unknown == set()


@pytest.mark.parametrize(("lost", "unknown"), [((1,), {"t"}), ((1, 2), set())])
async def test_a_broker_without_its_log_proves_nothing_while_another_replica_may_have_one(store, writes, lost, unknown):
    """A new id would make a stray of the log of broker 2, which is away and out of the ISR: it may be the only one."""
    await store.session.create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1,2]}}')
    losses = tuple(LogLoss(broker_id, NO_LEADER_EPOCH, NO_LOG) for broker_id in lost)
    await writes.write_states({TopicPartition("t", 0): LeaderAndIsr(-1, 4, (1,), 1, log_losses=losses)})
    identified = await identify_topics(store, writes, {"t": None}, {1: LATER}, objections_to_new_id, {})
    assert identified.unknown == unknown


async def test_the_warning_of_a_topic_without_an_id_names_what_holds_back_a_new_one(store, writes):
    await store.session.create("/brokers/topics/t", OF_CMAK)
    await with_state(writes, (2,))
    loss = LogLoss(1, NO_LEADER_EPOCH, NO_LOG)
    await writes.write_states(
        {
            TopicPartition("t", 1): LeaderAndIsr(-1, 4, (1,), 1, log_losses=(loss,)),
            TopicPartition("t", 2): LeaderAndIsr(1, 4, (1,), 1),
        }
    )
    await store.session.create("/brokers/topics/t/partitions/3", b"")
    await store.session.create("/brokers/topics/t/partitions/3/state", b"no JSON")
    with capture_logs() as lines:
        await identify_topics(store, writes, {"t": None}, {1: LATER}, objections_to_new_id, {})
    (warning,) = [line for line in lines if line["event"].startswith("topic without an id")]
    assert warning["reasons"].split("; ") == [
        "partition 2: the znode of the topic leaves it out",
        "partition 3: the znode of the topic leaves it out",
        "partition 0: no broker of its ISR [2] has registered since",
        "partition 1: every broker of its ISR [1] that registered has lost its log, and brokers [2] may have one",
    ]


async def test_one_state_that_cannot_be_read_holds_back_a_new_id_and_one_that_never_was_does_not(store, writes):
    """Of a partition that was just added there is no state: no replica has had a role in it."""
    await store.session.create("/brokers/topics/t", OF_CMAK)
    await with_state(writes, (1,))
    await store.session.create("/brokers/topics/t/partitions/1", b"")
    await store.session.create("/brokers/topics/t/partitions/1/state", b"no JSON")
    identified = await identify_topics(store, writes, {"t": None}, {1: LATER}, objections_to_new_id, {})
    assert identified.unknown == {"t"}
    await store.session.delete("/brokers/topics/t/partitions/1/state")
    identified = await identify_topics(store, writes, {"t": None}, {1: LATER}, objections_to_new_id, {})
    assert identified.unknown == set()


async def test_an_id_of_another_topic_is_not_returned_when_a_quota_refuses_the_write(store, writes, monkeypatch):
    """A broker that goes by it would set aside the logs of the topic's own id, or host two topics under one."""
    other = await store.create_topic("other", {0: (1, 2)}, {})
    await store.create_topic("t", {0: (1, 2)}, {})
    await store.session.set("/brokers/topics/t", (await store.session.get("/brokers/topics/other")).data)
    for path in ("/zookeeper", "/zookeeper/quota", "/zookeeper/quota/brokers", limits_path("/brokers")):
        await store.session.create(path)
    monkeypatch.setattr("broker.common.limits.ZOOKEEPER_REQUEST_BYTES_MAX", 1)
    assert await restore_topic_id(store, "t", KNOWN, {other.topic_id}) == TopicAssignment("t", NO_TOPIC_ID, {0: (1, 2)})
    identified = await identify_topics(store, writes, {"t": KNOWN}, {}, objections_to_new_id, {other.topic_id: "other"})
    assert (identified.assignments, identified.unknown) == ({}, {"t"})


async def test_a_topic_whose_states_cannot_be_read_gets_no_new_id(store, writes):
    await store.session.create("/brokers/topics/t", OF_CMAK)
    await with_state(writes, (1,))
    await store.session.set("/brokers/topics/t/partitions/0/state", b"no JSON")
    identified = await identify_topics(store, writes, {"t": None}, {1: LATER}, objections_to_new_id, {})
    assert identified.unknown == {"t"}


async def test_a_topic_whose_controller_died_before_its_first_state_gets_a_new_id(store, writes):
    """Its partitions had no role yet, so no log notes an id: seed 2001521 waited for one without end."""
    await store.session.create("/brokers/topics/t", OF_CMAK)
    await store.session.ensure("/brokers/topics/t/partitions/0")
    identified = await identify_topics(store, writes, {"t": None}, {}, objections_to_new_id, {})
    assert identified.unknown == set()
    assert identified.assignments["t"].has_id


async def test_a_partition_that_a_tool_left_out_of_the_znode_holds_back_a_new_id(store, writes):
    """Its state stands, so its replicas have logs; the znode will be corrected."""
    await store.session.create("/brokers/topics/t", b'{"version":1,"partitions":{}}')
    await with_state(writes, (1,))
    identified = await identify_topics(store, writes, {"t": None}, {1: LATER}, objections_to_new_id, {})
    assert identified.unknown == {"t"}


async def test_an_id_that_stands_already_is_kept_whoever_knows_another(store, writes):
    topic = await store.create_topic("t", {0: (1, 2)}, {})
    await with_state(writes, (1,))
    identified = await identify_topics(store, writes, {"t": KNOWN}, {}, objections_to_new_id, {})
    assert identified.assignments["t"] == await store.topic("t") == topic
    assert await restore_topic_id(store, "t", KNOWN) == topic


async def test_a_topic_made_anew_by_hand_without_an_id_does_not_get_that_of_the_one_before(store, writes):
    """Its partitions' znodes went with the earlier one: epochs begin again, as they may not in a log that goes on."""
    await store.session.create("/brokers/topics/t", OF_CMAK)
    await identify_topics(store, writes, {"t": KNOWN}, {}, objections_to_new_id, {})
    assert (await store.topic("t")).topic_id not in (KNOWN, NO_TOPIC_ID)


async def test_a_topic_that_is_gone_or_unreadable_is_left_out(store, writes):
    await store.session.create("/brokers/topics/t", b"no JSON")
    identified = await identify_topics(store, writes, {"t": KNOWN, "gone": KNOWN}, {1: LATER}, objections_to_new_id, {})
    assert (identified.assignments, identified.unknown) == ({}, set())
    assert await restore_topic_id(store, "gone", KNOWN) is None
    assert (await store.has_unreadable_topic("t"), await store.has_unreadable_topic("gone")) == (True, False)


async def test_a_controller_that_was_replaced_writes_no_id(store, writes):
    await store.session.create("/brokers/topics/t", OF_CMAK)
    await store.session.set("/controller_epoch", b"9")
    with pytest.raises(ControllerMoved):
        await identify_topics(store, writes, {"t": None}, {}, objections_to_new_id, {})
    assert not (await store.topic("t")).has_id


async def test_a_move_that_ends_in_a_znode_without_an_id_writes_the_id_as_well(store, writes):
    topic = await store.create_topic("t", {0: (1, 2), 1: (2, 1)}, {})
    await store.session.set("/brokers/topics/t", OF_CMAK)
    moved = {TopicPartition("t", 0): ReplicaAssignment((3, 1))}
    assert await write_assignments(store.session, writes, moved, {"t": topic.topic_id}) == moved
    assert await store.topic("t") == TopicAssignment("t", topic.topic_id, {0: (3, 1), 1: (2, 1)})


async def test_an_id_copied_from_another_topic_is_replaced_by_the_known_one(store, writes):
    topic = await store.create_topic("t", {0: (1, 2)}, {})
    await with_state(writes, (1,))
    other = await store.create_topic("other", {0: (1, 2)}, {})
    await store.session.set("/brokers/topics/t", (await store.session.get("/brokers/topics/other")).data)
    names = {other.topic_id: "other", topic.topic_id: "t"}
    identified = await identify_topics(store, writes, {"t": topic.topic_id}, {}, objections_to_new_id, names)
    assert identified.assignments == {"t": topic}
    assert [await store.topic(name) for name in ("t", "other")] == [topic, other]
