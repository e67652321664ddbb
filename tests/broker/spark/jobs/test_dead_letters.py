"""What a job cannot use moves no watermark and closes no window: it is a dead letter, and counted."""

import random
from collections import Counter

import pytest

from tests.broker.spark.conftest import Row

pytestmark = [pytest.mark.long, pytest.mark.spark]

#: In 2023. Its records are read, and recorded, long after they happened, as in a replay.
THEN = 1_700_000_000_000
RECORDED = THEN + 100 * 86_400_000
FAR = 4_000_000_000_000
WINDOW_MS = 10_000
NO_TIME = b"$.t is a time, and not of the future"


def event(number: int, recorded_ms: int = RECORDED) -> Row:
    return Row("a", {"t": THEN + number * 1_000}, recorded_ms)


#: Each of these once passed for new, or was told to have happened when it was read.
UNUSABLE = (
    Row("a", {"note": "no time"}, RECORDED),
    Row("a", None, RECORDED),
    Row("a", "no json", RECORDED),
    Row(None, b"\xff\xfe\x00", RECORDED),
    Row("a", '{"t":', RECORDED),
    Row("a", "[" * 5_000, RECORDED),
    Row("a", {"t": "soon"}, RECORDED),
    Row("a", {"t": -1}, RECORDED),
    Row("a", {"t": "NaN"}, RECORDED),
    Row("a", {"t": 10**17}, RECORDED),
    Row("a", {"t": "99999-01-01T00:00:00Z"}, RECORDED),
    Row("a", {"t": RECORDED + 86_400_000}, RECORDED),
    Row("a", {"t": FAR}, FAR),
    Row("a", {"note": "no time, and recorded by a clock that is wrong"}, FAR),
    Row("a", {"note": "no time at all"}, -1),
)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_among_them_the_others_are_counted_as_if_alone(topics, written_by, seed):
    """A mix in any order, in batches of any size; a window too early or too late would lose what is behind it."""
    chance = random.Random(seed)
    sound = [event(number, chance.choice((RECORDED, FAR, -1))) for number in range(120)]
    mixed, waiting = [], list(sound)
    while waiting:
        mixed.append(chance.choice(UNUSABLE) if chance.random() < 0.3 else waiting.pop(0))
    while mixed:
        size = chance.randint(1, 60)
        topics.append("events", mixed[:size])
        mixed = mixed[size:]
    topics.append("events", [event(1_000)])
    settings = {"input.topic": "events", "output.topic": "counts", "dead.letter.topic": "dead", "time.field": "$.t"}
    closed = {"window.ms": str(WINDOW_MS), "watermark.ms": "1000", "emit": "closed"}

    written = written_by("windowed_counts", settings | closed)

    starts = Counter((item.value["t"] - THEN) // WINDOW_MS for item in sound)
    counts = [item.value["count"] for item in written if item.topic == "counts"]
    assert counts == list(starts.values())
    dead = [item for item in written if item.topic == "dead"]
    assert {item.headers["barnabas.dead.reason"] for item in dead} == {NO_TIME}
    assert len(dead) == written_by.counted["dead"] == written_by.counted["read"] - len(sound) - 1


def test_own_time_of_a_record_may_be_wrong_too(topics, written_by):
    topics.append("events", [Row("a", 1, THEN), Row("a", 1, FAR), Row("a", 1, -1)])
    topics.append("events", [Row("a", 1, THEN + 1)])
    settings = {"input.topic": "events", "output.topic": "counts", "watermark.ms": "0"}
    written = written_by("windowed_counts", settings)
    assert [item.value["count"] for item in written] == [1, 2]
    assert written_by.counted == {"read": 4, "dead": 2}, "counted though there is no dead-letter topic"


def test_dead_letter_is_what_was_read_with_its_reason_and_its_place(topics, written_by):
    topics.append("events", [Row("a", {"note": 1}, RECORDED, (("trace", b"7"),)), event(1)])
    settings = {"input.topic": "events", "output.topic": "counts", "dead.letter.topic": "dead", "time.field": "$.t"}
    written = written_by("windowed_counts", settings)
    (dead,) = [item for item in written if item.topic == "dead"]
    assert (dead.key, dead.value) == ("a", {"note": 1})
    assert dead.headers == {
        "trace": b"7",
        "barnabas.dead.reason": NO_TIME,
        "barnabas.dead.record": b"events-0-0",
    }


def test_record_without_a_time_ends_no_session(topics, written_by):
    topics.append("events", [event(0), UNUSABLE[0]])
    topics.append("events", [event(1), event(1_000)])
    topics.append("events", [event(1_001)])
    settings = {"input.topic": "events", "output.topic": "sessions", "gap.ms": "5000", "watermark.ms": "0"}
    written = written_by("sessions", settings | {"time.field": "$.t"})
    assert [item.value["count"] for item in written] == [2]
    assert written_by.counted["dead"] == 1


def test_record_without_a_time_forgets_no_repetition(topics, written_by):
    for number in range(3):
        topics.append("events", [event(number), UNUSABLE[0]])
    settings = {"input.topic": "events", "output.topic": "once", "dead.letter.topic": "dead", "time.field": "$.t"}
    written = written_by("dedupe", settings | {"watermark.ms": "60000"})
    assert Counter(item.topic for item in written) == {"once": 1, "dead": 3}


@pytest.mark.parametrize("broken_side", ["orders", "payments"])
def test_record_without_a_time_parts_no_pair(topics, written_by, broken_side):
    topics.append("orders", [event(0)])
    topics.append("payments", [Row("b", {"t": THEN}, RECORDED)])
    topics.append(broken_side, [UNUSABLE[0]])
    topics.append("payments" if broken_side == "orders" else "orders", [Row("c", {"t": THEN + 1}, RECORDED)])
    topics.append("orders", [Row("d", {"t": THEN + 2}, RECORDED)])
    topics.append("payments", [event(5)])
    settings = {
        "left.topic": "orders",
        "right.topic": "payments",
        "output.topic": "pairs",
        "dead.letter.topic": "dead",
        "left.time": "$.t",
        "right.time": "$.t",
        "after.ms": "10000",
        "watermark.ms": "1000",
        "join": "left_outer",
    }
    written = written_by("stream_join", settings)
    assert [(item.topic, item.key) for item in written if item.value.get("right")] == [("pairs", "a")]
    assert [item.value for item in written if item.topic == "dead"] == [{"note": "no time"}]


def test_what_is_no_payment_is_told_and_remembered_of_no_account(topics, written_by):
    garbage = [{"amount": 5}, {"account": "a"}, {"account": "a", "amount": "NaN"}, {"account": "a", "amount": "1e999"}]
    topics.append("payments", [Row(None, item, 1) for item in garbage] + [Row(None, "no json", 1)])
    topics.append("payments", [Row(None, {"account": "a", "amount": 5}, at_ms) for at_ms in range(2, 8)])
    topics.append("payments", [Row(None, {"account": "a", "amount": 500}, 100_000)])
    settings = {"input.topic": "payments", "output.topic": "alerts", "dead.letter.topic": "dead", "count.max": "100"}
    written = written_by("fraud_detection", settings)
    assert [item.value["reasons"] for item in written if item.topic == "alerts"] == [["unusual"]]
    dead = [item.headers["barnabas.dead.reason"].decode() for item in written if item.topic == "dead"]
    no_account, no_amount = "$.account is present", "$.amount is number"
    assert dead == [no_account, no_amount, no_amount, no_amount, f"{no_account}; {no_amount}"]
    assert written_by.counted == {"read": 12, "dead": 5}
