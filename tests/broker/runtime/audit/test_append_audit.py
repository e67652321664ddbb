"""The partitions a broker leads, from the role to what is told: on real logs, with a group of positions in memory."""

import itertools
from uuid import UUID, uuid5

import pytest

from broker.audit.increment import BROKER, AuditTier, Chain
from broker.audit.ledger import AuditState
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.audit import append_audit
from broker.runtime.audit.append_audit import AppendAudit
from broker.runtime.audit.append_count import AppendTimeCount
from broker.runtime.audit.positions import NOWHERE
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication.replica_manager import ReplicaManager
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.manual_clock import ManualClock

MINUTE = 60_000
HERE = TopicPartition("t", 0)
COUNTED = LogConfig(barnabas_audit_enable=True)
TOPIC_ID = UUID(int=1)


class KeptPositions:
    """As the coordinator keeps them; `refuses` what it is told while it is away."""

    def __init__(self):
        self.kept, self.refuses = {}, False

    async def of(self, partitions):
        results = {partition: self.kept.get(partition) for partition in partitions}
        return {
            item: known[1] if known and known[0] == partitions[item] else NOWHERE for item, known in results.items()
        }

    async def commit(self, positions):
        if self.refuses:
            return set()
        self.kept |= positions
        return set(positions)


class Node:
    """One broker's part, on its logs."""

    def __init__(self, directory, positions):
        self.clock = ManualClock()
        self.logs = LogManager([directory / "logs"], LogConfig(), 1, "cluster")
        self.logs.load_all()
        self.replicas = ReplicaManager(1, self.logs, DelayedFetches(self.clock), self.clock)
        self.positions = positions
        self.audit = AppendAudit(self.replicas, positions, self.clock)

    def lead(self, epoch, config=COUNTED, leader=1, topic_id=None, topic="t"):
        topic_id = topic_id or (TOPIC_ID if topic == "t" else uuid5(TOPIC_ID, topic))
        state = LeaderAndIsrPartitionState(
            partition_index=0, controller_epoch=1, leader=leader, leader_epoch=epoch, isr=[1, 2][:leader],
            partition_epoch=epoch, replicas=[1, 2][:leader], is_new=False,
        )  # fmt: skip
        request = LeaderAndIsrRequest(
            topic_states=[LeaderAndIsrTopicState(topic_name=topic, topic_id=topic_id, partition_states=[state])]
        )
        apply_leader_and_isr(self.replicas, request, {topic: config})
        return self.replicas.get(topic, 0)

    def append(self, *times, **more):
        batch = build_batch([Record(0, time_, None, b"v") for time_ in times], **more)
        self.replicas.append(HERE, memoryview(batch))

    async def round(self, ledger, is_heard=True):
        """As the auditor goes round; `is_heard`: what is told arrives, and is known to have arrived."""
        await self.audit.place()
        while await self.audit.walk_some():
            pass
        increments = [increment for increment in self.audit.increments() if ledger.add(increment) or True]
        if is_heard:
            self.audit.arrived(increments)
            await self.audit.commit()
        self.audit.seal()
        return increments


@pytest.fixture
def node(tmp_path, monkeypatch):
    monkeypatch.setattr(append_audit, "_REST_FACTOR", 0)
    node = Node(tmp_path, KeptPositions())
    yield node
    node.logs.shutdown()


def story(ledger):
    return ledger.stories[Chain(AuditTier.APPENDED, BROKER, *HERE)]


def counts(ledger):
    result = story(ledger)
    return {window: result.tally(window).count for window in result.windows()}


async def test_only_a_leader_of_a_topic_that_asks_for_it_counts(node):
    assert node.lead(1, LogConfig()).count is None
    node.replicas.configure(node.replicas.get("t", 0), COUNTED)
    assert node.replicas.get("t", 0).count is not None
    assert node.audit.is_at_work.is_set()
    node.lead(2, leader=2)
    assert node.replicas.get("t", 0).count is None
    assert (len(node.audit), node.audit.is_at_work.is_set(), node.audit.is_asked_for) == (0, False, True)
    node.replicas.stop_replica(HERE)
    assert not node.audit.is_asked_for
    for topic in ("_barnabas_audit", "__consumer_offsets", "_schemas", "connect-offsets", "barnabas.probe"):
        assert node.lead(3, topic=topic).count is None
    compacted = LogConfig(barnabas_audit_enable=True, cleanup_policy=("compact",))
    assert node.lead(3, compacted, topic="states").count is None
    by_append = LogConfig(barnabas_audit_enable=True, message_timestamp_type="LogAppendTime")
    assert type(node.lead(3, by_append, topic="u").count) is AppendTimeCount


async def test_a_leader_that_hears_of_its_role_again_goes_on_and_in_another_epoch_begins_anew(node):
    count = node.lead(1).count
    assert node.lead(1).count is count
    assert node.lead(2).count is not count


@pytest.mark.parametrize("is_noted", [True, False])
async def test_whoever_leads_next_counts_what_was_not_told_and_nothing_twice(node, is_noted):
    """Told and noted, or told and killed before it was noted."""
    ledger = AuditState()
    node.lead(1)
    for number in range(4):
        node.append(number * MINUTE)
        await node.round(ledger)
    node.positions.refuses = not is_noted
    node.append(0, 1)
    await node.round(ledger)
    node.append(2 * MINUTE - 1, 2 * MINUTE)
    await node.round(ledger, is_heard=is_noted)
    node.append(5)
    node.positions.refuses = False
    node.lead(3)
    node.append(6)
    for _ in range(5):
        await node.round(ledger)
    result = story(ledger)
    assert (result.start, result.end, result.gaps) == (0, 10, [])
    assert all(one.end == later.start for one, later in itertools.pairwise(result.increments))
    assert counts(ledger) == {0: 5, MINUTE: 2, 2 * MINUTE: 2, 3 * MINUTE: 1}


async def test_what_is_told_twice_because_nobody_answered_counts_once(node):
    ledger = AuditState()
    node.lead(1)
    node.append(1)
    await node.round(ledger)
    first = await node.round(ledger, is_heard=False)
    node.append(2)
    again = await node.round(ledger)
    assert [item.sequence for item in (*first, *again)] == [0, 0]
    await node.round(ledger)
    await node.round(ledger)
    assert counts(ledger) == {0: 2}


async def test_what_was_deleted_before_it_was_counted_is_a_gap(node):
    ledger = AuditState()
    hosted = node.lead(1)
    for number in range(3):
        node.append(number)
    for _ in range(3):
        await node.round(ledger)
    node.append(MINUTE - 1, MINUTE)
    node.append(MINUTE)
    await node.round(ledger)
    hosted.log.delete_records(5, hosted.partition.high_watermark)
    for _ in range(3):
        await node.round(ledger)
    assert (story(ledger).end, story(ledger).gaps) == (6, [(3, 5)])
    assert counts(ledger) == {0: 3, MINUTE: 1}


@pytest.mark.parametrize(
    ("code", "is_passed_over"), [(ErrorCode.KAFKA_STORAGE_ERROR, False), (ErrorCode.CORRUPT_MESSAGE, True)]
)
async def test_a_disk_that_refuses_is_asked_again_and_damage_is_passed_over(node, monkeypatch, code, is_passed_over):
    ledger = AuditState()
    hosted = node.lead(1)
    node.append(MINUTE - 1, MINUTE)
    await node.round(ledger)
    with monkeypatch.context() as patched:
        patched.setattr(type(hosted.log), "read", lambda *_more: (_ for _ in ()).throw(ApiError(code)))
        assert await node.audit.walk_some() is is_passed_over
    for _ in range(2):
        await node.round(ledger)
    assert bool(ledger.stories) is not is_passed_over


async def test_a_topic_made_anew_begins_anew_wherever_the_earlier_one_had_got_to(node):
    ledger = AuditState()
    node.positions.kept[HERE] = (UUID(int=9), 3)
    node.lead(1)
    for number in range(4):
        node.append(number)
    for _ in range(3):
        await node.round(ledger)
    assert (story(ledger).start, story(ledger).end) == (0, 4)
    assert counts(ledger) == {0: 4}


async def test_a_leader_of_a_log_that_lacks_what_was_told_leaves_a_gap(node):
    """An unclean election took records back that were counted."""
    ledger = AuditState()
    node.lead(1)
    for number in range(4):
        node.append(number)
    for _ in range(3):
        await node.round(ledger)
    assert story(ledger).end == 4
    node.lead(2, leader=2)
    node.replicas.get("t", 0).log.truncate_to(2)
    node.lead(3)
    node.append(5 * MINUTE)
    for _ in range(3):
        await node.round(ledger)
    result = story(ledger)
    assert (result.end, result.gaps) == (3, [(0, 2)])
    assert not result.knows(0, 2)
