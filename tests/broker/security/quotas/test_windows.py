"""Rates and waits are those of Kafka's Rate, worked out anew at each record, to the bit."""

from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.security.quotas.windows import THROTTLE_MS_MAX, WindowedRate, Windows

MS = 1_000_000
SECOND = 1_000 * MS


class KafkasRate:
    """SampledStat and Rate of Kafka 3.8, line by line; times in ms."""

    def __init__(self, bound: float, num: int, size_ms: int):
        self.bound, self.num, self.size_ms = bound, num, size_ms
        self.samples: list[list[float]] = []  # [lastWindowMs, value]
        self.current = 0

    def record(self, amount: float, now: int, *, is_checked: bool = True) -> int:
        if not self.samples:
            self.samples.append([now, 0])
        sample = self.samples[self.current]
        if now - sample[0] >= self.size_ms:
            self.current = (self.current + 1) % self.num
            if self.current >= len(self.samples):
                self.samples.append([now, 0])
            else:
                self.samples[self.current] = [now, 0]
            sample = self.samples[self.current]
        sample[1] += amount
        return self._throttle_ms(now) if is_checked else 0

    def measure(self, now: int) -> tuple[float, int]:
        for sample in self.samples:
            if now - sample[0] >= self.num * self.size_ms:
                sample[0], sample[1] = now, 0
        total = sum(value for _, value in self.samples)
        elapsed = now - min((start for start, _ in self.samples), default=now)
        full, least = int(elapsed // self.size_ms), self.num - 1
        if full < least:
            elapsed += (least - full) * self.size_ms
        elapsed = max(elapsed, 1)
        return total / (elapsed / 1000), int(elapsed)

    def _throttle_ms(self, now: int) -> int:
        rate, elapsed = self.measure(now)
        if rate <= self.bound:
            return 0
        return floor((rate - self.bound) / self.bound * elapsed + 0.5)


pauses = (
    st.integers(0, 900)
    | st.integers(0, 13_000)
    | st.sampled_from((0, 1, 999, 1_000, 1_001, 10_999, 11_000, 11_001, 40_000))
)


@given(
    bound=st.integers(1, 5_000),
    windows=st.builds(Windows, st.integers(1, 3) | st.integers(4, 12), st.integers(1, 3)),
    steps=st.lists(
        st.tuples(
            pauses, st.sampled_from(("record", "record", "record", "take back", "measure")), st.integers(0, 30_000)
        ),
        max_size=60,
    ),
)
def test_every_answer_is_the_one_kafka_works_out_at_each_record(bound, windows, steps):
    naive, ours = KafkasRate(bound, windows.num, windows.size_s * 1000), WindowedRate(bound, windows)
    now = 0
    for pause, what, amount in steps:
        now += pause
        if what == "record":
            assert ours.record(amount, now * MS) == naive.record(amount, now)
        elif what == "take back":
            naive.record(-amount, now, is_checked=False)
            ours.take_back(amount, now * MS)
        else:
            assert ours.rate(now * MS) == pytest.approx(naive.measure(now)[0])


@given(bounds=st.lists(st.integers(1, 2_000), min_size=1, max_size=6), amount=st.integers(1, 9_000))
def test_a_changed_bound_counts_for_what_was_recorded_before(bounds, amount):
    naive, ours = KafkasRate(bounds[0], 11, 1000), WindowedRate(bounds[0], Windows())
    for number, bound in enumerate(bounds):
        now = number * 700
        naive.bound = bound
        ours.set_bound(bound, now * MS)
        assert ours.record(amount, now * MS) == naive.record(amount, now)


@pytest.mark.parametrize(
    ("amounts", "waits"),
    [
        # 1,000 a second: ten seconds' worth at once is no excess, one byte more is.
        ([(0, 10_000)], [0]),
        ([(0, 11_000)], [1_000]),
        # The second burst, 5 s later, finds 15,000 in 10 s: five seconds too much.
        ([(0, 10_000), (5_000, 5_000)], [0, 5_000]),
        # What began 11 s ago counts no more.
        ([(0, 10_000), (11_000, 10_000)], [0, 0]),
        ([(0, 10_000), (10_999, 2_000)], [0, 1_001]),
    ],
)
def test_a_table_of_bursts(amounts, waits):
    rate = WindowedRate(1_000, Windows())
    assert [rate.record(amount, at_ms * MS) for at_ms, amount in amounts] == waits


def test_nothing_is_worked_out_while_the_budget_lasts(monkeypatch):
    rate, settled = WindowedRate(1_000_000, Windows()), []
    settle = WindowedRate.settle
    monkeypatch.setattr(WindowedRate, "settle", lambda self, *given: settled.append(given) or settle(self, *given))
    for number in range(10_000):
        assert rate.record(100, number * MS // 10) == 0
    assert len(settled) == 1


def test_who_is_muted_for_what_it_was_told_may_go_on():
    rate, now, sent = WindowedRate(1_000, Windows()), 0, 0
    while now < 300 * SECOND:
        sent += 4_000
        now += 1 * MS + rate.record(4_000, now) * MS
    assert sent / 300 == pytest.approx(1_000, rel=0.1)


def test_no_wait_is_longer_than_a_client_can_be_told():
    assert WindowedRate(1, Windows()).record(10**12, 0) == THROTTLE_MS_MAX
    assert WindowedRate(1, Windows(), throttle_ms_max=1_000).record(10**12, 0) == 1_000


def offer(rate, amount, now_ns):
    rate.left -= amount
    return rate.settle_offer(amount, now_ns)


class TestOffers:
    def test_what_exceeds_the_bound_is_kept_back_and_does_not_count(self):
        rate = WindowedRate(1_000, Windows())
        assert offer(rate, 9_000, 0) == (0, True)
        assert offer(rate, 9_000, 0) == (8_000, False)
        assert rate.rate(0) == 900

    def test_a_batch_that_never_fits_is_given_when_nothing_else_is_there(self):
        """Or it would be kept back for ever (KAFKA-9677)."""
        rate = WindowedRate(1_000, Windows())
        rate.record(1, 0)
        assert offer(rate, 20_000, SECOND)[1] is False
        wait_ms, is_given = offer(rate, 20_000, 12 * SECOND)
        assert is_given
        assert wait_ms == 10_000
        assert offer(rate, 1, 13 * SECOND)[1] is False


def test_it_is_as_new_when_nothing_counts_any_more():
    rate = WindowedRate(1_000, Windows())
    rate.record(500, 0)
    assert not rate.is_as_new(11 * SECOND)
    assert rate.is_as_new(12 * SECOND)
    assert rate.idle_ns(12 * SECOND) == 12 * SECOND
