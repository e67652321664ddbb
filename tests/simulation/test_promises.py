"""The checker of members that keep their promises."""

import pytest

from tests.simulation.history import History
from tests.simulation.promises import Promises
from tests.simulation.timeline import Timeline

S = 1_000_000
TERM, NEXT_TERM = (1, 5, 1), (1, 6, 1)


@pytest.fixture
def history():
    return History(Timeline())


@pytest.fixture
def promises(history):
    return Promises("m", history, 3_000, lambda broker_id, since_us: True)


def test_a_member_expelled_right_after_its_heartbeat_is_found(history, promises):
    promises.heard(TERM, 1, 10 * S)
    promises.expelled(TERM, 1, 11 * S)
    assert len(history.violations) == 1


def test_a_member_whose_join_was_answered_and_that_is_unknown_then_is_found(history, promises):
    promises.waited(TERM, 1, 10 * S)
    promises.expelled(TERM, 1, 10 * S + 1)
    assert len(history.violations) == 1


def test_a_member_that_was_silent_may_be_expelled(history, promises):
    promises.heard(TERM, 1, 10 * S)
    promises.expelled(TERM, 1, 13 * S)
    assert history.violations == []


@pytest.mark.parametrize(("term", "broker_id"), [(NEXT_TERM, 1), (None, 1), (TERM, 2)])
def test_another_coordinator_may_not_know_it(history, promises, term, broker_id):
    promises.heard(TERM, 1, 10 * S)
    promises.expelled(term, broker_id, 11 * S)
    assert history.violations == []


def test_the_answer_of_a_coordinator_deposed_without_knowing_tells_its_successor_nothing(history, promises):
    promises.waited(TERM, 2, 10 * S)
    promises.expelled(TERM, 1, 10 * S + 1)
    assert history.violations == []


def test_the_answer_of_a_coordinator_deposed_without_knowing_does_not_hide_what_its_successor_knows(history, promises):
    promises.heard(TERM, 1, 10 * S)
    promises.heard(TERM, 2, 10 * S + 1)
    promises.expelled(TERM, 1, 11 * S)
    assert len(history.violations) == 1


def test_a_member_that_has_left_may_be_unknown(history, promises):
    promises.heard(TERM, 1, 10 * S)
    promises.forget()
    promises.expelled(TERM, 1, 11 * S)
    assert history.violations == []


def test_a_coordinator_that_was_paused_may_have_lost_it(history):
    promises = Promises("m", history, 3_000, lambda broker_id, since_us: False)
    promises.heard(TERM, 1, 10 * S)
    promises.expelled(TERM, 1, 11 * S)
    assert history.violations == []
