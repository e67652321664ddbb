"""Tokens for changes to topics: a table of what is let through and what has to be waited."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.errors import ApiError, ErrorCode
from broker.security.quotas.mutations import Mutations
from broker.security.quotas.token_bucket import TokenBucket
from broker.security.quotas.windows import Windows

SECOND = 1_000_000_000


def test_a_full_bucket_has_what_comes_in_all_windows():
    assert TokenBucket(10, Windows(), 0).tokens(0) == 110


def test_more_may_be_taken_than_is_there_and_the_debt_is_waited_for():
    bucket = TokenBucket(2, Windows(), 0)
    bucket.take(30, 0)
    assert bucket.wait_ms(0) == 4_000
    assert bucket.wait_ms(3 * SECOND) == 1_000
    assert bucket.wait_ms(4 * SECOND) == 0


def test_no_more_is_saved_than_the_bucket_holds():
    bucket = TokenBucket(2, Windows(), 0)
    bucket.take(1, 0)
    assert bucket.tokens(3_600 * SECOND) == 22


def test_a_lower_rate_takes_what_was_saved_and_leaves_the_debt():
    bucket = TokenBucket(10, Windows(), 0)
    bucket.set_bound(1, 0)
    assert bucket.tokens(0) == 11
    bucket.take(15, 0)
    bucket.set_bound(2, 0)
    assert bucket.wait_ms(0) == 2_000


@given(st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 40)), max_size=40), st.integers(1, 20))
def test_over_any_time_no_more_is_admitted_than_the_rate_and_one_burst_and_one_request(steps, rate):
    bucket, now, admitted, largest = TokenBucket(rate, Windows(), 0), 0, 0, 0
    for pause_ms, count in steps:
        now += pause_ms * 1_000_000
        if bucket.tokens(now) >= 0:
            bucket.take(count, now)
            admitted, largest = admitted + count, max(largest, count)
    assert admitted <= rate * 11 + rate * now / SECOND + largest + 1e-6


class TestOneRequest:
    def test_a_strict_one_is_refused_what_comes_after_the_debt(self):
        bucket = TokenBucket(1, Windows(), 0)
        mutations = Mutations(bucket, lambda: 0, is_strict=True)
        mutations.take(12)
        assert mutations.throttle_time_ms == 0
        with pytest.raises(ApiError) as refused:
            mutations.take(1)
        assert refused.value.code is ErrorCode.THROTTLING_QUOTA_EXCEEDED
        assert mutations.throttle_time_ms == 1_000

    def test_an_older_one_is_done_and_waits(self):
        mutations = Mutations(TokenBucket(1, Windows(), 0), lambda: 0, is_strict=False)
        mutations.take(12)
        mutations.take(2)
        assert mutations.throttle_time_ms == 3_000

    def test_what_was_waited_meanwhile_is_not_told_again(self):
        now = [0]
        mutations = Mutations(TokenBucket(1, Windows(), 0), lambda: now[0], is_strict=False)
        mutations.take(14)
        now[0] = 2 * SECOND
        assert mutations.throttle_time_ms == 1_000

    def test_without_a_quota_nothing_is_counted(self):
        mutations = Mutations(None, lambda: 0, is_strict=True)
        mutations.take(10**6)
        assert mutations.throttle_time_ms == 0
