"""The job of the audit's windows: what it makes of a batch, and what Spark makes of it."""

from dataclasses import replace

import orjson
import pytest

from broker.audit.increment import AuditTier, Chain, Increment
from broker.audit.tally import RecordTally
from broker.spark.audit.topic_windows import TopicWindows
from broker.spark.jobs.message_audit import JOB, InputRecord, count
from tests.broker.spark.audit.table import Table, ledger_of
from tests.broker.spark.audit.world import BEGIN, MINUTE, TOPIC, rows_of, tally, verdicts_of
from tests.broker.spark.conftest import Row


def increment_of(tier, source, first, last, *, sequence=0, minute=0, topic=TOPIC, is_last=True):
    window = BEGIN + minute * MINUTE
    ends = (-1, -1) if tier is AuditTier.PRODUCED else (first, last + 1)
    chain, windows = Chain(tier, source, topic, 0), {window: tally(window, first, last)}
    return Increment(chain, "e", sequence, window, windows, *ends, is_last=is_last)


PRODUCED = [
    increment_of(AuditTier.PRODUCED, "p", 0, 4),
    increment_of(AuditTier.PRODUCED, "p", 5, 9, sequence=1, minute=1),
]
APPENDED = [
    increment_of(AuditTier.APPENDED, "c", 0, 4),
    increment_of(AuditTier.APPENDED, "c", 5, 9, sequence=1, minute=1),
]
#: Lost a record of the second window.
CONSUMED = [
    increment_of(AuditTier.CONSUMED, "g", 0, 4),
    replace(increment_of(AuditTier.CONSUMED, "g", 6, 9, sequence=1, minute=1), start=5),
]


def of_batch(windows, *values, now_ms=BEGIN + 10 * MINUTE, kept_ms=5 * MINUTE):
    return list(count(windows, [InputRecord(0, number, value) for number, value in enumerate(values)], now_ms, kept_ms))


@pytest.mark.parametrize(
    "value",
    [
        None, b"", b"\xff", b"{}", b'{"format": 2}', b"[" * 100_000,
        replace(PRODUCED[0], chain=Chain(AuditTier.PRODUCED, "p", "no topic", 0)).to_bytes(),
        PRODUCED[0].to_bytes().replace(b'"produced"', b'"invented"'),
        replace(PRODUCED[0], windows={BEGIN: RecordTally("many")}).to_bytes(),
        replace(PRODUCED[0], windows={"soon": RecordTally()}).to_bytes(),
        replace(PRODUCED[0], at_ms="now").to_bytes(),
        replace(PRODUCED[0], start=[1]).to_bytes(),
    ],
)  # fmt: skip
def test_what_is_no_increment_is_dead_and_holds_up_nothing(value):
    windows = TopicWindows(TOPIC)
    dead, *rows = of_batch(windows, value, PRODUCED[0].to_bytes())
    assert (dead.key, dead.value, dead.place) == (None, value, "0-0")
    assert dead.reason
    assert [orjson.loads(row.key) for row in rows] == [[TOPIC, BEGIN, "produced", "p"], [TOPIC, BEGIN]]


def test_what_is_late_is_dead_and_says_which_part_of_it():
    windows = TopicWindows(TOPIC)
    of_batch(
        windows, *(increment.to_bytes() for increment in (PRODUCED[0], replace(PRODUCED[1], at_ms=BEGIN + 9 * MINUTE)))
    )
    late = replace(PRODUCED[0], sequence=2, at_ms=BEGIN + 10 * MINUTE)
    (dead,) = of_batch(windows, late.to_bytes())
    assert dead.reason.startswith("late: windows before")
    assert Increment.from_bytes(dead.value) == late
    assert orjson.loads(dead.key) == list(late.chain)


def test_a_clock_that_is_a_year_ahead_makes_nobody_late():
    windows, year_ms = TopicWindows(TOPIC), 365 * 24 * 60 * MINUTE
    of_batch(windows, replace(PRODUCED[0], at_ms=BEGIN + year_ms).to_bytes(), now_ms=BEGIN)
    assert all(row.reason is None for row in of_batch(windows, APPENDED[0].to_bytes(), now_ms=BEGIN))


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_windows_and_verdicts_are_written_batch_by_batch(topics, written_by):
    """The last batch says nothing new; what was dead is in a topic of its own."""
    batches = [[PRODUCED[0], APPENDED[0]], [APPENDED[0], PRODUCED[1], CONSUMED[0]], [CONSUMED[1], APPENDED[1]]]
    others = increment_of(AuditTier.PRODUCED, "p", 0, 0, topic="another")
    for batch in batches:
        topics.append("audit", [Row(None, increment.to_bytes()) for increment in batch])
    topics.append("audit", [Row("k", b"no increment"), Row(None, others.to_bytes()), Row(None, PRODUCED[1].to_bytes())])
    names = {"input.topic": "audit", "output.topic": "windows", "dead.letter.topic": "dead"}
    written = written_by(JOB.name, names)
    table = Table()
    table.write((item.key, orjson.dumps(item.value)) for item in written if item.topic == "windows")
    mine = {key: value for key, value in table.records.items() if value["topic"] == TOPIC}
    assert len(table.records) - len(mine) == 2, "a window and a verdict of the other topic"
    table.records = mine
    ledger = ledger_of([item for batch in batches for item in batch])
    assert table.rows() == rows_of(ledger)
    assert table.verdicts() == verdicts_of(ledger, 2 * BEGIN)
    assert [state for state, _ in table.verdicts().values()] == ["complete", "missing"]
    (dead,) = [item for item in written if item.topic == "dead"]
    assert dead.value == "no increment"
    assert dead.headers["barnabas.dead.record"] == b"audit-0-7"
    assert written_by.counted == {"read": 10, "dead": 1}
