"""A target that takes nothing for one topic: all others go on meanwhile, and that one does when it may again."""

import uuid

import pytest
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
)

from broker.common.types import TopicPartition
from broker.mirror.ledger import MirrorLedger
from broker.mirror.records import TOPIC, MirrorPosition, PositionRecord, written
from tests.barnabas_cluster import await_true
from tests.broker.mirror.conftest import denial, flow, mirroring

MODES = pytest.mark.parametrize("exactly_once", [False, True], ids=["at least once", "exactly once"])
#: Sooner than who waits for what is refused would give it up.
_SOON_S = 15.0


@pytest.fixture
def topics():
    mark = uuid.uuid4().hex[:10]
    return f"refused-{mark}", f"taken-{mark}"


def filter_of(rule):
    return AclBindingFilter(
        rule.restype, rule.name, rule.resource_pattern_type, rule.principal, rule.host, rule.operation,
        rule.permission_type,
    )  # fmt: skip


def assert_others_go_on(source, target, task, refused, taken):
    """Both have news; those of one alone arrive, and more of them when the other was refused before."""
    for turn in range(3):
        for topic in (refused, taken):
            source.write(topic, [f"{turn}"])
        await_true(lambda wanted=turn + 1: len(target.read(taken)) == wanted, "the other one goes on", _SOON_S)
    (copied,) = (item for at, item in task.copies.items() if at.topic == refused)
    await_true(lambda: copied.error, "it is told why", 60)


@MODES
@pytest.mark.parametrize("operation", [AclOperation.WRITE, AclOperation.ALL], ids=["write", "everything"])
def test_a_topic_one_may_not_write_holds_up_no_other(north, south, topics, exactly_once, operation):
    refused, taken = topics
    for side in (south, north):
        for topic in topics:
            side.create(topic)
    rule = denial(refused, operation)
    north.admin.create_acls([rule])[rule].result(20)
    with mirroring(south, north, dict.fromkeys(topics, 1), exactly_once=exactly_once) as task:
        assert_others_go_on(south, north, task, refused, taken)
        allowed = north.admin.delete_acls([filter_of(rule)])
        for future in allowed.values():
            future.result(20)
        await_true(lambda: len(north.read(refused)) == 3, "it is copied when it may be", 60)


@MODES
def test_a_topic_that_is_not_there_holds_up_no_other(north, south, topics, exactly_once):
    refused, taken = topics
    for topic in topics:
        north.create(topic)
    south.create(taken)
    with mirroring(north, south, dict.fromkeys(topics, 1), exactly_once=exactly_once) as task:
        assert_others_go_on(north, south, task, refused, taken)
        south.create(refused)
        await_true(lambda: len(south.read(refused)) == 3, "it is copied when it is there", 60)


@MODES
def test_a_copy_that_was_deleted_and_made_anew_gets_all_records_again(north, south, topics, exactly_once):
    topic, _ = topics
    for side in (north, south):
        side.create(topic)
    north.write(topic, [f"{number}" for number in range(20)])
    with mirroring(north, south, {topic: 1}, exactly_once=exactly_once) as task:
        await_true(lambda: len(south.read(topic)) == 20, "the first copy")
        south.admin.delete_topics([topic])[topic].result(20)
        await_true(lambda: topic not in south.admin.list_topics(timeout=10).topics, "it is gone")
        south.create(topic)
        north.write(topic, ["news"])
        await_true(lambda: set(south.values(topic)) == set(north.values(topic)), "all is in the new copy", 60)
        (copied,) = task.copies.values()
        assert "copy was recreated" in copied.notice
        await_true(lambda: not copied.is_moved and copied.next_offset == 21, "it is remembered")
        assert copied.runs.target_of(20).offset == south.read(topic)[-1][0]
    if exactly_once:
        assert south.values(topic) == north.values(topic)


def test_the_copy_of_a_topic_at_rest_is_known_by_its_id(north, south, topics):
    topic, _ = topics
    for side in (north, south):
        side.create(topic)
    north.write(topic, ["0"])
    name, partition = flow(north, south).name, TopicPartition(topic, 0)
    key, value = written(PositionRecord(name, partition, MirrorPosition(1, -1, None, topic), ()))
    south.write(TOPIC, [value], key=key)

    def known():
        with south.connect() as cluster:
            ledger = MirrorLedger(cluster)
            ledger.read_to_end()
            return ledger.positions[name, partition].copy_id

    with mirroring(north, south, {topic: 1}):
        await_true(known, "it is remembered", 30)
    assert south.values(topic) == []
