"""A failed login waits for its answer, the next ones of the same address longer."""

from broker.common.security_limits import (
    FAILED_LOGIN_ADDRESSES_MAX,
    FAILED_LOGIN_DELAY_FACTOR_MAX,
    FAILED_LOGIN_FORGOTTEN_MS,
)
from broker.security.sasl.failures import FailedLogins


def test_the_first_wait_as_kafka_has_it_and_then_longer_and_longer_up_to_a_bound():
    failures = FailedLogins()
    waits = [failures.delay_ms("10.0.0.1", 100, now_ms=at) for at in range(12)]
    assert waits[:6] == [100, 100, 100, 200, 400, 800]
    assert waits[-1] == 100 * FAILED_LOGIN_DELAY_FACTOR_MAX
    assert failures.delay_ms("10.0.0.2", 100, now_ms=12) == 100


def test_without_a_delay_there_is_none():
    failures = FailedLogins()
    assert {failures.delay_ms("10.0.0.1", 0, now_ms=at) for at in range(12)} == {0}


def test_who_rests_is_forgiven():
    failures = FailedLogins()
    for at in range(12):
        failures.delay_ms("10.0.0.1", 100, now_ms=at)
    assert failures.delay_ms("10.0.0.1", 100, now_ms=11 + FAILED_LOGIN_FORGOTTEN_MS) == 100


def test_addresses_that_are_one_persons_count_together():
    failures = FailedLogins()
    for number in range(4):
        failures.delay_ms(f"2001:db8:1:2::{number}", 100, now_ms=number)
    assert failures.delay_ms("2001:db8:1:2:ffff::1", 100, now_ms=5) == 400
    assert failures.delay_ms("2001:db8:1:3::1", 100, now_ms=5) == 100
    for number in range(4):
        failures.delay_ms("::ffff:10.0.0.1", 100, now_ms=number)
    assert failures.delay_ms("10.0.0.1", 100, now_ms=5) == 400
    assert failures.delay_ms("no address", 100, now_ms=5) == 100


def test_no_more_addresses_are_remembered_than_there_is_room_for():
    failures = FailedLogins()
    for number in range(FAILED_LOGIN_ADDRESSES_MAX + 10):
        failures.delay_ms(f"address {number}", 100, now_ms=number)
    assert len(failures) == FAILED_LOGIN_ADDRESSES_MAX
