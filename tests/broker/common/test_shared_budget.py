"""A share of what is left: whatever greedy clients hold, there is room for a client that holds nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.common.limits import REFUSALS_LOGGED_EVERY_S
from broker.common.shared_budget import (
    ANONYMOUS,
    PRINCIPAL_FLOORS,
    RESERVE,
    UNATTRIBUTED,
    Owner,
    SharedBudget,
    SharedBudgets,
    owner_of,
)
from tests.examples import examples

FLOOR = 10


def take_all(budget: SharedBudget, *owners: Owner) -> None:
    """All of them take, one after the other, until each is refused."""
    is_taken = True
    while is_taken:
        is_taken = False
        for owner in owners:
            if budget.has_room_for(owner):
                budget.hold(owner, 1)
                is_taken = True


def addresses(count: int) -> list[Owner]:
    return [Owner(ANONYMOUS, f"/10.0.{number >> 8}.{number & 255}") for number in range(count)]


@pytest.mark.parametrize(("count", "share"), [(1, 0.75), (2, 3 / 7), (10, 3 / 31)])
def test_greedy_clients_get_equal_shares_of_three_quarters_and_leave_a_third_of_one(count, share):
    budget = SharedBudget(31_000, FLOOR)
    owners = addresses(count)
    take_all(budget, *owners)
    for owner in owners:
        assert budget.held_by(owner) == pytest.approx(share * budget.size * 3 / 4, rel=0.01)
    assert budget.has_room_for(Owner(ANONYMOUS, "/10.9.1.1"))


@pytest.mark.parametrize("amount", [1, 7, 900, 100_000])
def test_addresses_that_come_one_after_the_other_leave_the_reserve(amount):
    """Ten of them once left nothing: a quarter of a quarter, and so on, and the last taken without measure."""
    budget = SharedBudget(10_000, FLOOR)
    for owner in addresses(100):
        while budget.has_room_for(owner, amount):
            budget.hold(owner, amount)
        while budget.has_room_for(owner):
            budget.hold(owner, 1)
    assert budget.held <= budget.size - budget.size // RESERVE + 100 * FLOOR
    assert budget.has_room_for(Owner(ANONYMOUS, "/10.9.1.1"), FLOOR)
    assert not budget.has_room_for(Owner(ANONYMOUS, "/10.9.1.1"), FLOOR + 1)


def test_one_principal_leaves_room_for_others_from_however_many_addresses_it_comes():
    budget = SharedBudget(70_000, FLOOR)
    take_all(budget, *(Owner("User:greedy", f"/10.0.0.{index}") for index in range(50)))
    assert budget.size * 3 // 4 - budget.held == pytest.approx(7_500, rel=0.01)
    take_all(budget, *addresses(50))
    take_all(budget, *(Owner("User:greedy", f"/10.0.1.{index}") for index in range(50)))
    assert budget.has_room_for(Owner("User:calm", "/10.0.0.1"), FLOOR)


def test_one_principal_takes_few_floors_from_the_reserve_from_however_many_addresses_it_comes():
    budget = SharedBudget(4_000, FLOOR)
    take_all(budget, *addresses(20))
    before = budget.held
    take_all(budget, *(Owner("User:greedy", f"/10.0.1.{index}") for index in range(200)))
    assert budget.held - before <= PRINCIPAL_FLOORS * FLOOR


def test_one_bad_host_does_not_close_the_door_for_its_principal_elsewhere():
    budget = SharedBudget(10_000, FLOOR)
    take_all(budget, Owner("User:service", "/10.0.0.1"))
    assert budget.has_room_for(Owner("User:service", "/10.0.0.2"))


def test_what_is_unattributed_counts_but_for_no_client_and_grows_outside_of_the_reserve():
    budget = SharedBudget(100, FLOOR)
    assert budget.has_room_for(UNATTRIBUTED, 75)
    assert not budget.has_room_for(UNATTRIBUTED, 76)
    budget.hold(UNATTRIBUTED, 99)
    assert budget.has_room_for(Owner("User:a", "/10.0.0.1"))
    assert not budget.has_room_for(UNATTRIBUTED)
    assert budget.has_room_for(UNATTRIBUTED, 0)
    budget.hold(UNATTRIBUTED, 1)
    assert not budget.has_room_for(Owner("User:a", "/10.0.0.1"))
    assert budget.largest() is None


def test_clients_that_hold_nothing_any_more_are_not_remembered():
    budget = SharedBudget(100, FLOOR)
    for number in range(1_000):
        owner = Owner(f"User:{number}", "/10.0.0.1")
        budget.hold(owner, 5)
        budget.hold(owner, -5)
        budget.refuse(number)
    assert (budget.held, budget.largest()) == (0, None)
    assert not budget._by_owner
    assert not budget._by_principal
    assert not budget._doubled
    assert (budget.refused, budget.refused_at_ms) == (1_000, 999)


@pytest.mark.parametrize(
    ("hosts", "counted"),
    [
        (("/127.0.0.1", "/127.0.0.2", "/127.200.1.1", "/::1"), "/127.0.0.1"),
        (("/2001:db8:0:1::1", "/2001:db8:0:1:ffff::", "/2001:db8:0:1::1%eth0"), "/2001:db8:0:1::/64"),
        (("/10.0.0.1", "/::ffff:10.0.0.1"), "/10.0.0.1"),
        (("/a:host",), "/a:host"),
        (("",), ""),
    ],
)
def test_addresses_that_one_host_has_many_of_are_one(hosts, counted):
    assert {owner_of("User:a", host) for host in hosts} == {Owner("User:a", counted)}


def test_what_a_client_has_may_double_whatever_others_hold_and_once_only():
    budget = SharedBudget(1_000, FLOOR)
    calm = Owner(ANONYMOUS, "/10.9.1.1")
    budget.hold(calm, 50)
    take_all(budget, *addresses(20))
    left = budget.has_room_for(Owner(ANONYMOUS, "/10.9.1.2"), FLOOR)
    assert not budget.has_room_for(calm, 1)
    assert budget.may_double(calm, 50)
    assert not budget.may_double(calm, 51)
    for _ in range(3):
        budget.hold(calm, 50)
        assert not budget.may_double(calm, 1)
        assert budget.has_room_for(Owner(ANONYMOUS, "/10.9.1.2"), FLOOR) == left
        budget.hold(calm, -50)
    assert budget.may_double(calm, 50)


def test_refusals_are_logged_once_in_a_while_for_all_budgets_together():
    one, other = SharedBudget(100, FLOOR), SharedBudget(100, FLOOR)
    budgets, owner = SharedBudgets("delete some", {"one": one, "other": other}), Owner("User:a", "/10.0.0.1")
    assert budgets.refusals_to_log(0) == {}
    other.hold(owner, 60)
    budgets.refuse(one, owner, 5)
    assert budgets.refusals_to_log(0)["of"] == "one"
    for number in range(50):
        budgets.refuse(other, owner, number)
        assert budgets.refusals_to_log(number) == {}
    logged = budgets.refusals_to_log(int(REFUSALS_LOGGED_EVERY_S * 1_000))
    assert logged == {
        "of": "other", "principal": "User:a", "address": "/10.0.0.1", "held": 60, "held_by_all": 60, "max": 100,
        "refused": 50, "hint": "delete some",
    }  # fmt: skip
    assert budgets.refusals_to_log(10**9) == {}


STEPS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(["take", "double", "give back"]), st.integers(1, 400)), max_size=120
)


@given(STEPS, st.sampled_from([1, 3, 10]))
@settings(max_examples=examples(200))
def test_whatever_clients_take_a_newcomer_has_its_floor_and_nothing_exceeds_the_bound(steps, addresses_of_each):
    """The reserve is enough for the floors of all of them and one more."""
    budget = SharedBudget(4 * 11 * FLOOR, FLOOR)
    for client, kind, amount in steps:
        owner = Owner(ANONYMOUS if client % 2 else "User:a", f"/10.0.0.{client % addresses_of_each}")
        if kind == "take":
            while budget.has_room_for(owner, amount):
                budget.hold(owner, amount)
        elif kind == "double" and budget.may_double(owner, amount):
            budget.hold(owner, amount)
        elif kind == "give back":
            budget.hold(owner, -min(amount, budget.held_by(owner)))
        assert budget.has_room_for(Owner("User:new", "/10.0.9.9"), FLOOR)
        assert budget.held <= 2 * budget.size
        assert budget.held - sum(budget._doubled.values()) <= budget.size
        assert budget.held == sum(budget._by_owner.values()) == sum(budget._by_principal.values())
