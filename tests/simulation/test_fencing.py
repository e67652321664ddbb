"""The checker of fencing says no when a producer is refused that alone holds its id, and nothing when it may be."""

import pytest

from broker.common.errors import ErrorCode
from tests.simulation.fencing import Fencing
from tests.simulation.history import History
from tests.simulation.timeline import Timeline


@pytest.fixture
def timeline():
    return Timeline()


@pytest.fixture
def history(timeline):
    return History(timeline)


@pytest.fixture
def fencing(timeline, history):
    return Fencing("tx", history, 1_500, lambda: timeline.now_us, lambda: True, lambda since_us: True)


def test_a_producer_that_alone_holds_its_id_is_never_fenced(history, fencing):
    fencing.begin()
    fencing.judge(ErrorCode.PRODUCER_FENCED, "EndTxn")
    assert len(history.violations) == 1


def test_a_producer_whose_transaction_is_overdue_may_be_fenced(timeline, history, fencing):
    fencing.begin()
    timeline.now_us += 1_500_000
    fencing.judge(ErrorCode.PRODUCER_FENCED, "EndTxn")
    assert history.violations == []


def test_a_request_for_an_id_that_is_served_late_may_fence_who_sent_it(history, fencing):
    fencing.begin()
    fencing.lose_initialisation()
    fencing.judge(ErrorCode.PRODUCER_FENCED, "EndTxn")
    assert history.violations == []


def test_what_may_be_tried_again_is_no_refusal_and_no_transaction_none_either(history, fencing):
    fencing.begin()
    fencing.judge(ErrorCode.CONCURRENT_TRANSACTIONS, "EndTxn")
    fencing.judge(None, "Produce")
    fencing.end()
    fencing.judge(ErrorCode.PRODUCER_FENCED, "EndTxn")
    assert history.violations == []
