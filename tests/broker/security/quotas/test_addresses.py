"""How often an address may connect."""

from broker.security.quotas.addresses import AddressQuotas

MS = 1_000_000
SECOND = 1_000 * MS


def test_without_a_quota_everybody_is_welcome():
    quotas = AddressQuotas()
    assert not quotas.is_on
    assert all(quotas.admit("1.2.3.4", 0) == 0 for _ in range(1_000))


def test_who_comes_too_often_is_held_for_a_window_at_most_and_does_not_count():
    quotas = AddressQuotas()
    quotas.set("1.2.3.4", 1, 0)
    delays = [quotas.admit("1.2.3.4", 0) for _ in range(100)]
    assert delays == [0] * 10 + [1_000] * 90
    assert quotas.admit("1.2.3.4", 11 * SECOND) == 0
    assert quotas.admit("5.6.7.8", 0) == 0


def test_a_default_counts_each_address_for_itself():
    quotas = AddressQuotas()
    quotas.set(None, 1, 0)
    for address in ("::1", "1.2.3.4"):
        assert [quotas.admit(address, 0) for _ in range(11)] == [0] * 10 + [1_000]


def test_an_address_of_its_own_comes_before_the_default_and_0_admits_nobody():
    quotas = AddressQuotas()
    quotas.set(None, 0, 0)
    quotas.set("1.2.3.4", 5, 0)
    assert quotas.admit("1.2.3.4", 0) == 0
    assert quotas.admit("5.6.7.8", 0) == 1_000


def test_a_changed_rate_counts_for_who_came_before_and_a_removed_one_no_more():
    quotas = AddressQuotas()
    quotas.set("1.2.3.4", 1, 0)
    for _ in range(11):
        quotas.admit("1.2.3.4", 0)
    quotas.set("1.2.3.4", 2, 0)
    assert quotas.admit("1.2.3.4", 0) == 0
    quotas.set("1.2.3.4", 1, 0)
    assert quotas.admit("1.2.3.4", 0) > 0
    quotas.set("1.2.3.4", None, 0)
    assert quotas.admit("1.2.3.4", 0) == 0
    assert not quotas.is_on


def test_what_is_used_is_told_of_the_addresses_nearest_to_their_rate_and_of_no_others():
    quotas = AddressQuotas()
    quotas.set(None, 10, 0)
    quotas.set("1.2.3.4", 2, 0)
    quotas.set("9.9.9.9", 0, 0)
    for address, count in (("1.2.3.4", 30), ("5.6.7.8", 10), ("::1", 1), ("9.9.9.9", 1)):
        for _ in range(count):
            quotas.admit(address, 0)
    uses = quotas.uses(0, most=2)
    assert [(member.key, member.user, member.client_id, member.ip) for member in uses] == [
        ("connection_creation_rate", "", "", "1.2.3.4"),
        ("connection_creation_rate", "", "", "5.6.7.8"),
    ]
    assert [(item.bound, item.rate, item.throttled_ms) for item in uses] == [(2, 2, 5_000), (10, 1, 0)]
    quotas.set(None, None, 0)
    quotas.set("1.2.3.4", None, 0)
    assert quotas.uses(0, most=2) == []
