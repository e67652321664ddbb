"""The checker of deleted records."""

import pytest

from broker.common.types import TopicPartition
from tests.simulation.deletions import Deletions
from tests.simulation.history import History
from tests.simulation.timeline import Timeline

WHERE = TopicPartition("trimmed", 0)


@pytest.fixture
def history():
    return History(Timeline())


@pytest.fixture
def deletions(history):
    acknowledged = Deletions(history)
    acknowledged.acknowledge(WHERE, 7, frozenset({(1, 1), (2, 4)}))
    return acknowledged


@pytest.mark.parametrize(("begins_at", "broker_id", "life", "expected"), [(6, 2, 4, 1), (7, 2, 4, 0), (6, 2, 5, 0)])
def test_what_comes_back_at_a_replica_that_was_in_sync_and_lives_is_found(
    history, deletions, begins_at, broker_id, life, expected
):
    deletions.begins(WHERE, begins_at, broker_id, life, deletions.until_now(WHERE))
    assert len(history.violations) == expected


def test_what_is_acknowledged_after_the_question_does_not_count(history, deletions):
    known = deletions.until_now(WHERE)
    deletions.acknowledge(WHERE, 20, frozenset({(1, 1)}))
    deletions.begins(WHERE, 7, 1, 1, known)
    assert history.violations == []
