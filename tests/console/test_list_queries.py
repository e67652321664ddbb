"""What a list asks of the database does not grow with its rows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext


@pytest.fixture
def queries_of(viewer, client_of):
    """queries_of(address): the number of queries of one visit."""
    browser = client_of(viewer)

    def visit(address: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(address).status_code == 200
        return len(queries)

    return visit


@pytest.mark.parametrize(
    "address", ["/topics/", "/topics/?sort=-lag", "/consumers/", "/placement/", "/topics/orders-0/"]
)
def test_a_list_of_many_asks_no_more_often_than_a_list_of_few(address, queries_of, cluster, collect):
    def grow(numbers: range) -> None:
        for number in numbers:
            cluster.create_topic(f"orders-{number}", 1 + number, 1)
            cluster.commit(f"readers-{number}", f"orders-{number}", 0, 0)
        collect()
        collect()

    grow(range(2))
    queries_of(address)
    few = queries_of(address)
    grow(range(2, 12))

    assert queries_of(address) <= few
