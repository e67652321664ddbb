"""The checker of consumer groups says no when two members own a partition, and nothing when one gives it to another."""

import pytest

from broker.common.types import TopicPartition
from tests.simulation.history import History
from tests.simulation.ownership import Ownership
from tests.simulation.timeline import Timeline

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)


@pytest.fixture
def history():
    return History(Timeline())


@pytest.fixture
def ownership(history):
    return Ownership("g", [P0, P1], history)


def enter(ownership, *members: str, is_in_good_standing: bool = True) -> None:
    for member in members:
        ownership.enter(member, lambda: is_in_good_standing)


def test_a_partition_that_is_given_up_first_may_be_another_members(history, ownership):
    enter(ownership, "a", "b")
    ownership.take("a", 1, frozenset({P0, P1}))
    ownership.take("a", 1, frozenset({P0}))
    ownership.take("b", 2, frozenset({P1}))
    ownership.take("a", 2, frozenset({P0}))
    assert history.violations == []
    assert ownership.is_whole


def test_two_owners_in_one_epoch_are_two_too_many(history, ownership):
    enter(ownership, "a", "b")
    ownership.take("a", 1, frozenset({P0}))
    ownership.abandon("a")
    ownership.take("b", 1, frozenset({P0}))
    assert ["which is a's" in violation for violation in history.violations] == [True]


def test_a_partition_that_somebody_reads_from_is_nobody_elses(history, ownership):
    enter(ownership, "a", "b")
    ownership.take("a", 1, frozenset({P0}))
    ownership.take("b", 2, frozenset({P0}))
    assert ["which a still reads from" in violation for violation in history.violations] == [True]


def test_who_was_silent_for_too_long_may_lose_its_partitions_unheard(history, ownership):
    enter(ownership, "a", is_in_good_standing=False)
    enter(ownership, "b")
    ownership.take("a", 1, frozenset({P0}))
    ownership.take("b", 2, frozenset({P0}))
    assert history.violations == []
    assert not ownership.is_whole, "a goes by what it heard last"
