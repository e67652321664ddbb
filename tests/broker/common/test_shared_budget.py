"""A share of what is left: whatever greedy clients hold, there is room for a client that holds nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.common.limits import BUDGET_OWNERS_COUNTED_MAX
from broker.common.shared_budget import ANONYMOUS, UNATTRIBUTED, Owner, SharedBudget
from tests.examples import examples


def take_all(budget: SharedBudget, *owners: Owner) -> None:
    """All of them take, one after the other, until each is refused."""
    is_taken = True
    while is_taken:
        is_taken = False
        for owner in owners:
            if budget.has_room_for(owner):
                budget.hold(owner, 1)
                is_taken = True


@pytest.mark.parametrize(("count", "share"), [(1, 0.75), (2, 3 / 7), (10, 3 / 31)])
def test_greedy_clients_get_equal_shares_and_leave_a_third_of_one(count, share):
    budget = SharedBudget(31_000)
    owners = [Owner(ANONYMOUS, f"/10.0.0.{each}") for each in range(count)]
    take_all(budget, *owners)
    for owner in owners:
        assert budget.held_by(owner) == pytest.approx(share * budget.size, rel=0.01)
    assert budget.has_room_for(Owner(ANONYMOUS, "/10.0.1.1"))


def test_one_principal_leaves_room_for_others_from_however_many_addresses_it_comes():
    budget = SharedBudget(70_000)
    take_all(budget, *(Owner("User:greedy", f"/10.0.0.{each}") for each in range(50)))
    assert budget.size - budget.held == pytest.approx(10_000, rel=0.01)
    take_all(budget, *(Owner(ANONYMOUS, f"/10.0.0.{each}") for each in range(50)))
    assert budget.has_room_for(Owner("User:calm", "/10.0.0.1"))


def test_one_bad_host_does_not_close_the_door_for_its_principal_elsewhere():
    budget = SharedBudget(10_000)
    take_all(budget, Owner("User:service", "/10.0.0.1"))
    assert budget.has_room_for(Owner("User:service", "/10.0.0.2"))


def test_what_is_unattributed_counts_but_for_no_client():
    budget = SharedBudget(100)
    budget.hold(UNATTRIBUTED, 99)
    assert budget.has_room_for(Owner("User:a", "/10.0.0.1"))
    budget.hold(UNATTRIBUTED, 1)
    assert not budget.has_room_for(Owner("User:a", "/10.0.0.1"))


def test_clients_that_hold_nothing_any_more_are_not_remembered():
    budget = SharedBudget(100)
    for number in range(1_000):
        owner = Owner(f"User:{number}", "/10.0.0.1")
        budget.hold(owner, 5)
        budget.hold(owner, -5)
        budget.refuse(owner, number)
    assert (budget.held, list(budget.largest(5))) == (0, [])
    assert not budget._by_owner
    assert not budget._by_principal
    assert len(budget.refusals) == BUDGET_OWNERS_COUNTED_MAX
    assert budget.refused == 1_000


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 40)), max_size=60))
@settings(max_examples=examples(50))
def test_a_client_that_holds_nothing_has_room_as_long_as_something_is_left(takes):
    budget = SharedBudget(400)
    for principal, host, amount in takes:
        owner = Owner(f"User:{principal}", f"/10.0.0.{host}")
        if budget.has_room_for(owner) and amount <= budget.size - budget.held:
            budget.hold(owner, amount)
    assert budget.has_room_for(Owner("User:new", "/10.0.9.9")) == (budget.held < budget.size)
    assert dict(budget.largest(99)) == {owner: budget.held_by(owner) for owner, _ in budget.largest(99)}
    assert sum(amount for _, amount in budget.largest(99)) == budget.held
