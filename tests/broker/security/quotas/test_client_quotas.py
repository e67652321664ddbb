"""Which quota counts for whom, who shares a sensor, and what becomes of sensors when quotas change."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.security.membership import MEMBER
from broker.security.quotas import client_quotas
from broker.security.quotas.client_quotas import ClientQuotas
from broker.security.quotas.entities import QuotaEntity, entity_at
from broker.security.quotas.values import QuotaKey

SECOND = 1_000_000_000
PRODUCE, REQUEST, MUTATION = (
    QuotaKey.PRODUCER_BYTE_RATE,
    QuotaKey.REQUEST_PERCENTAGE,
    QuotaKey.CONTROLLER_MUTATION_RATE,
)
#: As Kafka tests them (ClientQuotaManagerTest), the one that counts first.
IN_ORDER = (
    "users/u/clients/c",
    "users/u/clients/<default>",
    "users/u",
    "users/<default>/clients/c",
    "users/<default>/clients/<default>",
    "users/<default>",
    "clients/c",
    "clients/<default>",
)


def quotas_of(limits):
    quotas = ClientQuotas()
    for path, limit in limits.items():
        quotas.set(entity_at(path), {PRODUCE: limit}, 0)
    return quotas


@given(st.dictionaries(st.sampled_from(IN_ORDER), st.integers(1, 10**9)))
def test_the_most_precise_one_counts(limits):
    produce = quotas_of(limits).meter_of("User:u", "c", 0).produce
    first = next((path for path in IN_ORDER if path in limits), None)
    assert (produce.bound if produce else None) == (limits[first] if first else None)


def test_of_each_quota_for_itself():
    quotas = quotas_of({"users/u/clients/c": 5})
    quotas.set(QuotaEntity(user="u"), {REQUEST: 50.0, PRODUCE: 1}, 0)
    meter = quotas.meter_of("User:u", "c", 0)
    assert (meter.produce.bound, meter.request.bound, meter.fetch, meter.mutation) == (5, SECOND / 2, None, None)


@pytest.mark.parametrize(
    ("path", "one", "other", "is_shared"),
    [
        ("users/u", ("User:u", "a"), ("User:u", "b"), True),
        ("users/<default>", ("User:u", "a"), ("User:u", "b"), True),
        ("users/<default>", ("User:u", "a"), ("User:v", "a"), False),
        ("clients/c", ("User:u", "c"), ("User:v", "c"), True),
        ("clients/<default>", ("User:u", "c"), ("User:v", "c"), True),
        ("clients/<default>", ("User:u", "c"), ("User:u", "d"), False),
        ("users/u/clients/<default>", ("User:u", "c"), ("User:u", "d"), False),
        ("users/<default>/clients/<default>", ("User:u", "c"), ("User:v", "c"), False),
        ("users/u", ("User:u", "a"), ("Group:u", "a"), True),
    ],
)
def test_who_shares_what_is_measured(path, one, other, is_shared):
    quotas = quotas_of({path: 1})
    assert (quotas.meter_of(*one, 0).produce is quotas.meter_of(*other, 0).produce) is is_shared


def test_members_of_the_cluster_are_never_limited():
    assert quotas_of({"users/<default>": 1}).meter_of(MEMBER, "c", 0).produce is None


def test_nothing_is_measured_without_a_quota():
    quotas = quotas_of({"clients/c": 1})
    assert quotas.is_on
    assert not quotas.limits_fetches
    quotas.set(QuotaEntity(client_id="c"), {}, 0)
    assert not quotas.is_on


class TestChanges:
    """KAFKA-10458, KAFKA-9658."""

    def test_a_new_bound_reaches_who_was_measured_before(self):
        quotas = quotas_of({"users/u": 1_000})
        meter = quotas.meter_of("User:u", "c", 0)
        meter.produce.record(10_000, 0)
        quotas.set(QuotaEntity(user="u"), {PRODUCE: 500}, 0)
        assert meter.produce.record(1, 0) > 9_000
        assert quotas.meter_of("User:u", "c", 0).produce is meter.produce

    def test_a_bucket_hears_of_it_too(self):
        quotas = ClientQuotas()
        quotas.set(QuotaEntity(user="u"), {MUTATION: 10.0}, 0)
        bucket = quotas.meter_of("User:u", "c", 0).mutation
        bucket.take(120, 0)
        quotas.set(QuotaEntity(user="u"), {MUTATION: 1.0}, 0)
        assert bucket.wait_ms(0) == 10_000

    def test_what_was_used_counts_for_the_quota_that_comes_in_its_place(self):
        quotas = quotas_of({"users/u": 1_000, "users/<default>": 10})
        quotas.meter_of("User:u", "c", 0).produce.record(10_000, 0)
        quotas.set(QuotaEntity(user="u"), {}, 0)
        assert quotas.meter_of("User:u", "c", 0).produce.record(1, 0) > 900_000

    def test_a_meter_is_asked_for_anew(self):
        quotas = quotas_of({"clients/c": 1})
        meter = quotas.meter_of("User:u", "c", 0)
        quotas.set(QuotaEntity(user="u"), {PRODUCE: 2}, 0)
        assert meter.client_id != "c"
        assert quotas.meter_of("User:u", "c", 0).produce.bound == 2

    def test_what_is_removed_is_told_no_more(self):
        quotas = quotas_of({"users/u": 1})
        quotas.meter_of("User:u", "c", 0).produce.record(5, 0)
        assert len(quotas.uses(0, 10)) == 1
        quotas.set(QuotaEntity(user="u"), {}, 0)
        assert quotas.uses(0, 10) == []

    def test_listeners_hear_of_changes_and_not_of_the_same_again(self):
        quotas, heard = ClientQuotas(), []
        quotas.on_changed.append(lambda: heard.append(quotas.is_on))
        for values in ({PRODUCE: 1}, {PRODUCE: 1}, {}):
            quotas.set(QuotaEntity(user="u"), values, 0)
        assert heard == [True, False]


class TestBounds:
    @pytest.fixture
    def few(self, monkeypatch):
        monkeypatch.setattr(client_quotas, "QUOTA_SENSORS_MAX", 20)
        monkeypatch.setattr(client_quotas, "QUOTA_METERS_MAX", 15)
        return quotas_of({"clients/<default>": 1_000})

    def test_made_up_client_ids_are_not_remembered_for_ever(self, few):
        for number in range(1_000):
            few.meter_of("User:u", f"made up {number}", number).produce.record(1, number)
        assert len(few._sensors) <= 20
        assert len(few._meters) <= 15

    def test_who_has_used_something_lately_stays_while_there_is_room(self, few):
        few.meter_of("User:u", "busy", 0).produce.record(5_000, 0)
        for number in range(19):
            few.meter_of("User:u", f"idle {number}", 0)
        few.meter_of("User:u", "busy", SECOND).produce.record(5_000, SECOND)
        few.meter_of("User:u", "one more", SECOND)
        assert few.meter_of("User:u", "busy", SECOND).produce.record(1_000, SECOND) > 0

    def test_a_client_id_is_kept_as_far_as_one_goes(self):
        quotas = quotas_of({"clients/<default>": 1_000})
        one, other = (quotas.meter_of("User:u", "x" * 30_000 + end, 0) for end in "ab")
        assert one.produce is other.produce
        assert max(len(tags.client_id) for tags in quotas._sensors) == 255

    def test_an_hour_of_silence_is_forgotten(self):
        quotas = quotas_of({"clients/<default>": 1_000})
        quotas.meter_of("User:u", "c", 0).produce.record(1, 0)
        quotas.expire(3_599 * SECOND)
        assert len(quotas._sensors) == 1
        quotas.expire(3_600 * SECOND)
        assert not quotas._sensors


@pytest.mark.parametrize("value", [5e-324, 1e-300, 1e-9, 1e9, 1e302, 1.7e308])
def test_a_quota_of_any_size_can_be_worked_with(value):
    """Once one is not a number, no request of whom it is for would be answered, that which takes it away neither."""
    quotas = ClientQuotas()
    quotas.set(QuotaEntity(user="u"), {REQUEST: value, MUTATION: value}, 0)
    meter = quotas.meter_of("User:u", "c", 0)
    for now_ns in range(0, 40 * SECOND, SECOND // 2):
        wait_ms = meter.request.record(1_000, now_ns)
        meter.mutation.take(1, now_ns)
        waits_ms = wait_ms, meter.mutation.wait_ms(now_ns)
    assert (waits_ms == (0, 0)) == (value > 1)
    assert all(0 <= use.rate < math.inf for use in quotas.uses(now_ns, 10))


def test_uses_are_told_in_the_units_of_their_quotas_the_largest_share_first():
    quotas = ClientQuotas()
    quotas.set(QuotaEntity(user="%C3%84"), {PRODUCE: 1_000, REQUEST: 50.0, MUTATION: 1.0}, 0)
    meter = quotas.meter_of("User:Ä", "c", 0)
    meter.produce.record(9_000, 0)
    meter.request.record(SECOND, 0)
    first, second, third = quotas.uses(0, 10)
    assert (first.key, first.user, first.client_id, first.bound, first.rate) == (PRODUCE, "Ä", "", 1_000, 900)
    assert (second.key, second.bound, second.rate) == (REQUEST, 50, 10)
    assert (third.key, third.rate) == (MUTATION, 0)
    assert quotas.uses(0, 1) == [first]
