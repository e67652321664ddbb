"""A target that takes nothing for one topic: all others go on meanwhile, and that one does when it may again."""

import uuid

import pytest
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
)

from tests.barnabas_cluster import await_true
from tests.broker.mirror.conftest import denial, mirroring

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
    (copied,) = (each for at, each in task.copies.items() if at.topic == refused)
    await_true(lambda: copied.error, "it is told why", 60)


@MODES
@pytest.mark.parametrize("operation", [AclOperation.WRITE, AclOperation.ALL], ids=["write", "everything"])
def test_a_topic_one_may_not_write_holds_up_no_other(north, guarded, topics, exactly_once, operation):
    refused, taken = topics
    for side in (north, guarded):
        for topic in topics:
            side.create(topic)
    rule = denial(refused, operation)
    guarded.admin.create_acls([rule])[rule].result(20)
    with mirroring(north, guarded, dict.fromkeys(topics, 1), exactly_once=exactly_once) as task:
        assert_others_go_on(north, guarded, task, refused, taken)
        allowed = guarded.admin.delete_acls([filter_of(rule)])
        for future in allowed.values():
            future.result(20)
        await_true(lambda: len(guarded.read(refused)) == 3, "it is copied when it may be", 60)


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
