"""The checker of committed offsets."""

import pytest

from broker.common.types import TopicPartition
from tests.simulation.committed_offsets import CommittedOffsets
from tests.simulation.history import History
from tests.simulation.timeline import Timeline

WHERE = TopicPartition("orders", 0)


@pytest.fixture
def history():
    return History(Timeline())


@pytest.fixture
def offsets(history):
    committed = CommittedOffsets(history)
    for number in (1, 2):
        committed.attempt(f"m#{number}")
    committed.acknowledge("g", WHERE, 10, "m#2")
    return committed


@pytest.mark.parametrize("expected", [{}, {WHERE: (9, "m#0")}])
def test_an_acknowledged_commit_that_is_gone_is_found(history, offsets, expected):
    offsets.fetched("g", offsets.acknowledged("g"), expected)
    assert len(history.violations) == 1


@pytest.mark.parametrize("expected", [{WHERE: (10, "m#2")}, {WHERE: (11, "m#3")}])
def test_what_was_committed_or_a_later_commit_is_right(history, offsets, expected):
    offsets.fetched("g", offsets.acknowledged("g"), expected)
    assert history.violations == []


def test_a_commit_whose_answer_nobody_got_may_come_late(history, offsets):
    offsets.fetched("g", offsets.acknowledged("g"), {WHERE: (9, "m#1")})
    assert history.violations == []
    offsets.refused("m#1")
    offsets.fetched("g", offsets.acknowledged("g"), {WHERE: (9, "m#1")})
    assert len(history.violations) == 1


def test_a_commit_acknowledged_after_the_question_does_not_count(history, offsets):
    before = offsets.acknowledged("g")
    offsets.acknowledge("g", WHERE, 20, "m#5")
    offsets.fetched("g", before, {WHERE: (10, "m#2")})
    assert history.violations == []
