"""What is suspicious: decided from an account's history, one payment after the other."""

import pytest

from broker.spark.jobs.fraud_detection import History, Payment, Rules, judge
from tests.broker.spark.conftest import Row

RULES = Rules(high_value=1_000, count_max=3, count_ms=60_000, unusual_factor=10, probe_value=2, probe_ms=600_000)


def reasons_of(*payments: tuple[int, float]) -> list[list[str]]:
    history, collected = History(), []
    for number, (time_ms, amount) in enumerate(payments):
        history, reasons = judge(history, Payment(time_ms, amount, f"t-0-{number}"), RULES)
        collected.append(reasons)
    return collected


def test_high_value_is_told_at_once():
    assert reasons_of((0, 999.9), (100_000, 1_000)) == [[], ["high value"]]


def test_one_too_many_in_a_short_time_is_told():
    assert reasons_of((0, 50), (1, 50), (2, 50), (3, 50), (60_004, 50)) == [[], [], [], ["too many"], []]


def test_payment_that_comes_late_is_judged_by_what_was_paid_before_it():
    burst = [(500_000 + number, 50.0) for number in range(3)]
    assert reasons_of(*burst, (1_000, 50.0), (500_010, 50.0)) == [[], [], [], [], ["too many"]]


def test_many_times_the_usual_is_told_once_the_usual_is_known():
    usual = [(number * 100_000, 20.0) for number in range(5)]
    assert reasons_of((0, 20.0), (10**6, 500.0)) == [[], []], "too little is known yet"
    assert reasons_of(*usual, (10**6, 199.0), (2 * 10**6, 600.0))[5:] == [[], ["unusual"]]


def test_large_payment_right_after_a_tiny_one_is_told():
    assert reasons_of((0, 1.0), (600_000, 20.0)) == [[], ["large after tiny"]]
    assert reasons_of((0, 1.0), (600_001, 20.0)) == [[], []]
    assert reasons_of((0, 1.0), (1, 1.5)) == [[], []]


def test_history_stays_small_however_long_it_is():
    history = History()
    for time_ms in range(1_000):
        history, _ = judge(history, Payment(time_ms, 5.0, "t-0-0"), RULES)
    assert (len(history.times), history.count, history.total) == (3, 1_000, 5_000.0)


@pytest.mark.long
@pytest.mark.spark
def test_account_is_remembered_from_batch_to_batch(topics, written_by):
    for batch in range(1, 5):
        paid = [Row(None, {"account": "a", "amount": 5}, batch), Row(None, {"account": "b", "amount": 9}, batch)]
        topics.append("payments", [*paid[: 1 if batch > 1 else 2], Row(None, "no json", batch)])
    topics.append("payments", [Row(None, {"account": "b", "amount": 20_000}, 10)])
    settings = {"input.topic": "payments", "output.topic": "alerts", "count.max": "3"}
    written = written_by("fraud_detection", settings)
    assert [(item.key, item.value["reasons"]) for item in written] == [("a", ["too many"]), ("b", ["high value"])]
    assert written[1].value["record"].startswith("payments-0-")


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize(("forget_ms", "alerts"), [("1000", 0), ("86400000", 1)])
def test_account_that_was_silent_for_long_is_forgotten(topics, written_by, forget_ms, alerts):
    topics.append("payments", [Row(None, {"account": "a", "amount": 5}, time_ms) for time_ms in (1, 2, 3)])
    for time_ms in (100_000, 100_001):
        topics.append("payments", [Row(None, {"account": "clock", "amount": 5}, time_ms)])
    topics.append("payments", [Row(None, {"account": "a", "amount": 5}, 100_002)])
    settings = {"input.topic": "payments", "output.topic": "alerts", "watermark.ms": "1000", "forget.ms": forget_ms}
    assert len(written_by("fraud_detection", settings | {"count.max": "3", "count.ms": "900000"})) == alerts
