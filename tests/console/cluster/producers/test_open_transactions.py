"""What becomes of an open transaction, by what its partition and the coordinators say."""

from dataclasses import replace

import pytest

from console.cluster.producers.open_transactions import HANGS_AFTER_MS, OpenTransactionState, open_transactions
from console.cluster.producers.plan import abort_plan
from console.kit.gateway.producers.interface import ProducerView, TransactionsView, TransactionView

NOW = 1_780_000_000_000
WRITER = ProducerView(0, 7, 3, 10, NOW - HANGS_AFTER_MS, 1, 100)
CLAIM = TransactionView("payments-1", 2, 7, 3, "Ongoing", 60_000, NOW - 10_000, frozenset({("orders", 0)}))


def standing(writer: ProducerView = WRITER, *claims: TransactionView, untold: str = ""):
    (first,) = open_transactions("orders", [writer], TransactionsView(claims, untold), {0: 250}, NOW)
    return first


def test_one_that_its_coordinator_knows_ends_by_itself_and_says_when():
    result = standing(WRITER, CLAIM)
    assert result.standing is OpenTransactionState.OPEN
    assert "Broker 2, its coordinator, aborts it at" in result.sentence
    assert "start a producer with its transactional.id" in result.sentence
    assert (result.transaction, result.waiting) == (CLAIM, 150)


@pytest.mark.parametrize(("state", "word"), [("PrepareCommit", "commit"), ("PrepareAbort", "abort")])
def test_one_that_is_decided_waits_for_its_marker(state, word):
    result = standing(WRITER, replace(CLAIM, state=state, started_at_ms=NOW - 3_600_000))
    assert (result.standing, f"decided to {word}" in result.sentence) == (OpenTransactionState.ENDING, True)


def test_a_coordinator_that_is_late_is_named():
    result = standing(WRITER, replace(CLAIM, started_at_ms=NOW - 3_600_000))
    assert result.standing is OpenTransactionState.OVERDUE
    assert "broker 2" in result.sentence


def test_one_nobody_knows_of_hangs_once_its_producer_was_quiet_for_as_long_as_any_may_take():
    assert standing().standing is OpenTransactionState.HANGING
    younger = replace(WRITER, last_at_ms=NOW - HANGS_AFTER_MS + 60_000)
    result = standing(younger)
    assert (result.standing, "still open in 1\u202fmin," in result.sentence) == (OpenTransactionState.UNCLAIMED, True)
    assert standing(replace(WRITER, last_at_ms=None)).standing is OpenTransactionState.HANGING


def test_a_clock_that_is_ahead_makes_nothing_hang():
    assert standing(replace(WRITER, last_at_ms=NOW + 3_600_000)).standing is OpenTransactionState.UNCLAIMED


def test_as_long_as_somebody_was_not_asked_nothing_is_said_to_hang():
    result = standing(untold="Broker 3 did not say which transactions it coordinates.")
    assert result.standing is OpenTransactionState.UNTOLD
    assert result.sentence.startswith("Broker 3 did not say")


@pytest.mark.parametrize(
    "claim",
    [
        replace(CLAIM, partitions=frozenset({("orders", 1)})),
        replace(CLAIM, partitions=frozenset({("payments", 0)})),
        replace(CLAIM, producer_id=8),
        replace(CLAIM, epoch=2),
    ],
    ids=["another partition", "another topic", "another producer", "an earlier epoch"],
)
def test_what_another_transaction_does_is_no_comfort(claim):
    assert standing(WRITER, claim).standing is OpenTransactionState.HANGING


def test_the_end_of_a_later_epoch_ends_the_earlier_too():
    assert standing(WRITER, replace(CLAIM, epoch=4, state="PrepareAbort")).standing is OpenTransactionState.ENDING


def test_those_that_nobody_ends_come_first_then_the_oldest():
    writers = [
        replace(WRITER, producer_id=1, last_at_ms=NOW - 5_000),
        replace(WRITER, producer_id=2, last_at_ms=NOW - 9_000),
        replace(WRITER, producer_id=3),
        replace(WRITER, producer_id=4, open_from=None),
    ]
    transactions = open_transactions("orders", writers, TransactionsView(()), {}, NOW)
    assert [(transaction.producer.producer_id, transaction.waiting) for transaction in transactions] == [
        (3, None),
        (2, None),
        (1, None),
    ]


def test_only_what_hangs_can_be_aborted():
    plan = abort_plan("orders", standing(), "h:9092", "zk:2181")
    assert (plan.obstacle, plan.typed_name, plan.undo) == ("", "orders-0", "")
    assert plan.command == (
        "kafka-transactions.sh --bootstrap-server h:9092 abort --topic orders --partition 0 --start-offset 100 "
        "--zookeeper zk:2181"
    )
    for item in (standing(WRITER, CLAIM), standing(untold="x"), standing(replace(WRITER, last_at_ms=NOW))):
        assert abort_plan("orders", item, "h:9092", "").obstacle == item.sentence


def test_another_producer_or_another_standing_is_another_plan():
    shown = abort_plan("orders", standing(), "h:9092", "").confirmed
    for writer in (replace(WRITER, epoch=4), replace(WRITER, producer_id=8), replace(WRITER, coordinator_epoch=2)):
        assert abort_plan("orders", standing(writer), "h:9092", "").confirmed != shown
    assert abort_plan("orders", standing(untold="x"), "h:9092", "").confirmed != shown
    later = open_transactions("orders", [WRITER], TransactionsView(()), {0: 999}, NOW + 5_000)[0]
    assert abort_plan("orders", later, "h:9092", "").confirmed == shown
