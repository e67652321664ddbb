"""An address says what is shown; nonsense in it never fails the page."""

import pytest
from django.http import QueryDict

from console.cluster.records.query import LIMITS, RecordQuery, read_cursor, write_cursor


@pytest.mark.parametrize(
    "address",
    [
        "place=x&offset=x&partition=-1&limit=9999&shown=x&searched=x&cursor=x&moment=noon",
        "partition=²&offset=9223372036854775808&limit=0&cursor=0:1,&moment=2026-01-01T00:00:00",
        "partition=99999999999999999999&cursor=0:-1",
    ],
)
def test_nonsense_in_the_address_is_as_nothing_and_told(address):
    parsed = RecordQuery.parse(QueryDict(address))
    assert parsed == RecordQuery()
    assert len(parsed.problems) + len(parsed.range.problems) == len(address.split("&"))


def test_what_the_address_says_is_asked():
    address = "place=time&moment=2026-11-21T03:12:00Z&partition=3&limit=100&shown=hex&uncommitted=on&search= a b "
    query = RecordQuery.parse(QueryDict(address))
    assert (query.place, query.partition, query.limit, query.shown_as) == ("time", 3, 100, "hex")
    assert (query.committed_only, query.search, query.range.start.hour) == (False, "a b", 3)
    assert query.limit in LIMITS


def test_a_cursor_comes_back_as_it_was():
    positions = {1: 40, 0: 12}
    assert dict(read_cursor(write_cursor(positions))) == positions


def test_more_partitions_than_an_address_holds_have_no_cursor():
    assert write_cursor(dict.fromkeys(range(5_000), 10**12)) == ""
