"""The checker of transactions finds each anomaly it is there to find, and nothing in what Kafka promises."""

import pytest

from broker.common.types import TopicPartition
from tests.simulation.history import History
from tests.simulation.isolation import ABORTED, COMMITTED, UNKNOWN, Transactions
from tests.simulation.timeline import Timeline

P0, P1 = TopicPartition("ledger", 0), TopicPartition("ledger", 1)


@pytest.fixture
def history():
    return History(Timeline())


@pytest.fixture
def transactions(history):
    return Transactions(history)


def transact(transactions, producer: str, outcome: str, **written):
    """`written`: partition 0 or 1 by name to its value."""
    transacted = transactions.begin(producer)
    for name, value in written.items():
        transactions.write(transacted, {"p0": P0, "p1": P1}[name], value)
    transacted.outcome = outcome
    return transacted


def anomalies(history) -> list[str]:
    return [violation.split()[1].rstrip(":") for violation in history.violations]


def test_whole_transactions_and_aborted_ones_that_are_gone_are_right(history, transactions):
    transact(transactions, "a", COMMITTED, p0="a0", p1="a1")
    transact(transactions, "b", ABORTED, p0="b0", p1="b1")
    transact(transactions, "b", UNKNOWN, p0="c0", p1="c1")
    transactions.check({P0: ["a0"], P1: ["a1"]})
    assert history.violations == []


def test_an_aborted_value_among_the_committed_is_found(history, transactions):
    transact(transactions, "a", ABORTED, p0="a0")
    transactions.check({P0: ["a0"]})
    assert anomalies(history) == ["G1a"]


def test_a_value_read_before_its_producer_asked_for_a_commit_is_found(history, transactions):
    transactions.write(transactions.begin("a"), P0, "a0")
    transactions.see("reader", "a0")
    assert anomalies(history) == ["G1a"]


def test_a_part_of_a_transaction_of_unknown_outcome_is_found(history, transactions):
    transact(transactions, "a", UNKNOWN, p0="a0", p1="a1")
    transactions.check({P0: ["a0"], P1: []})
    assert anomalies(history) == ["G1b"]


def test_an_acknowledged_commit_that_is_missing_is_found(history, transactions):
    transact(transactions, "a", COMMITTED, p0="a0", p1="a1")
    transactions.check({P0: [], P1: []})
    assert len(history.violations) == 1


def test_what_a_reader_saw_and_is_not_there_in_the_end_is_found(history, transactions):
    transact(transactions, "a", UNKNOWN, p0="a0")
    transactions.see("reader", "a0")
    transactions.check({P0: []})
    assert len(history.violations) == 1


def test_two_transactions_that_read_from_each_other_are_found(history, transactions):
    one = transact(transactions, "a", COMMITTED, p0="a0")
    other = transact(transactions, "b", COMMITTED, p1="b1")
    one.reads.append("b1")
    other.reads.append("a0")
    transactions.check({P0: ["a0"], P1: ["b1"]})
    assert anomalies(history) == ["G1c"]


def test_reading_from_a_later_transaction_of_its_own_producer_is_found(history, transactions):
    early = transact(transactions, "a", COMMITTED, p0="a0")
    transact(transactions, "a", COMMITTED, p0="a1")
    early.reads.append("a1")
    transactions.check({P0: ["a0", "a1"]})
    assert anomalies(history) == ["G1c"]


def test_transactions_of_one_producer_in_the_wrong_order_are_found(history, transactions):
    transact(transactions, "a", COMMITTED, p0="a0")
    transact(transactions, "a", COMMITTED, p0="a1")
    transactions.check({P0: ["a1", "a0"]})
    assert anomalies(history) == ["G0"]


def test_transactions_of_two_producers_may_interleave_and_are_counted(history, transactions):
    transact(transactions, "a", COMMITTED, p0="a0", p1="a1")
    transact(transactions, "b", COMMITTED, p0="b0", p1="b1")
    committed = {P0: ["a0", "b0"], P1: ["b1", "a1"]}
    transactions.check(committed)
    assert history.violations == []
    assert transactions.interleaved(committed) == 1
