"""What brokers say of their shared budgets, in the layouts of two versions."""

from broker.protocol.messages.describe_requests import DescribeRequestsBudget, DescribeRequestsOwner
from console.kit.gateway.brokers.interface import BudgetUse
from console.kit.gateway.brokers.kafka import _budget_use

BOUND = {"name": "members", "size": 100, "held": 60, "refused_ms_ago": -1}
LARGEST = BudgetUse("members", 100, 60, None, "User:app", "10.0.0.1", 50)


def test_the_client_that_holds_the_most_is_read_from_either_version():
    owners = [
        DescribeRequestsOwner(principal="User:app", host="/10.0.0.1", held=50),
        DescribeRequestsOwner(principal="User:etl", host="/10.0.0.2", held=10),
    ]
    assert _budget_use(DescribeRequestsBudget(**BOUND, owners=owners)) == LARGEST
    newer = DescribeRequestsBudget(**BOUND, principal="User:app", host="/10.0.0.1", held_by_client=50)
    assert _budget_use(newer) == LARGEST


def test_a_budget_of_which_no_client_holds_anything_names_none():
    assert _budget_use(DescribeRequestsBudget(**BOUND)) == BudgetUse("members", 100, 60, None, "", "", 0)
