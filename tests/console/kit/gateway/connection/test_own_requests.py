"""What this process asks of brokers: counted by the minute, and bounded in what is under way."""

import json
import threading

import pytest

from broker.client.errors import BrokerUnreachable
from broker.protocol.api_keys import ApiKey
from console.kit.gateway.connection import own_requests as counted
from console.kit.gateway.connection.own_requests import (
    ALL_APIS,
    BOUNDS_US,
    LIBRARY,
    OTHERS,
    OURS,
    ROWS_MAX,
    LibraryStatistics,
    OwnRequests,
    Process,
    begin,
    statistics,
)

AT = "127.0.0.1:9092"


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def moved():
    return Clock()


@pytest.fixture
def requests(moved):
    return OwnRequests(2, moved)


def rows_of(requests: OwnRequests) -> dict[tuple[str, str, str], list]:
    return {tuple(row[:3]): row[3:] for row in requests.snapshot()["rows"]}


def slots_of(requests: OwnRequests) -> dict[str, list]:
    return {slot[0]: slot[1:] for slot in requests.snapshot()["slots"]}


def statistics_of(name: str = "127.0.0.1:9092/1", nodename: str = AT, **more: object) -> str:
    broker = {
        "nodename": nodename,
        "txbytes": 0,
        "rxbytes": 0,
        "txerrs": 0,
        "rxerrs": 0,
        "req_timeouts": 0,
        "waitresp_cnt": 0,
        "outbuf_cnt": 0,
        "req": {},
        "rtt": {"cnt": 0, "p50": 0, "p95": 0, "p99": 0, "max": 0},
    }
    return json.dumps({"brokers": {name: broker | more}})


def test_each_request_is_counted_with_its_bytes_time_and_error(requests):
    requests.answered(AT, ApiKey.LIST_OFFSETS, 100, 2_000, 0.003, is_error=False)
    requests.answered(AT, ApiKey.LIST_OFFSETS, 100, 50, 0.020, is_error=True)
    requests.failed(AT, ApiKey.LIST_OFFSETS)
    count, errors, sent, received, buckets = rows_of(requests)[AT, "ListOffsets", OURS]
    assert (count, errors, sent, received) == (3, 2, 200, 2_050)
    assert [BOUNDS_US[bucket] >= 1e6 * took for bucket, took in zip(sorted(buckets), (0.003, 0.020), strict=True)] == [
        True
    ] * 2


def test_what_is_more_than_a_minute_ago_is_forgotten(requests, moved):
    requests.answered(AT, ApiKey.METADATA, 1, 1, 0.001, is_error=False)
    moved.now_s += 55
    requests.answered(AT, ApiKey.FETCH, 1, 1, 0.001, is_error=False)
    assert len(rows_of(requests)) == 2
    moved.now_s += 6
    assert list(rows_of(requests)) == [(AT, "Fetch", OURS)]
    assert requests.snapshot()["span_ms"] == 6_000
    moved.now_s += 3_600
    assert rows_of(requests) == {}


def test_brokers_and_apis_without_end_are_counted_together(requests):
    for number in range(ROWS_MAX + 500):
        requests.answered(f"host-{number}:1", ApiKey.METADATA, 1, 1, 0.001, is_error=False)
    assert len(rows_of(requests)) <= ROWS_MAX + 1
    assert rows_of(requests)[OTHERS, OTHERS, OURS][0] == 500


def test_at_one_broker_no_more_is_under_way_than_may_be_and_who_waits_is_counted():
    waits, order = threading.Event(), []

    def clock_s() -> float:
        if threading.current_thread() is asking:
            waits.set()
        return 0.0

    def ask() -> None:
        with requests.turn(AT, 20):
            order.append("third")

    asking, requests = threading.Thread(target=ask), OwnRequests(2, clock_s)
    with requests.turn(AT, 20):
        with requests.turn(AT, 20):
            asking.start()
            assert waits.wait(20)
            with requests.turn("another:9092", 20):  # another broker has a budget of its own
                assert order == []
        asking.join(20)
        assert order == ["third"]
    assert slots_of(requests)[AT] == [2, 1, 0.0, 0]


def test_who_does_not_get_a_turn_in_time_is_told_why(requests):
    why = r"this console has 2 requests under way at 127\.0\.0\.1:9092 already"
    with (
        requests.turn(AT, 1),
        requests.turn(AT, 1),
        pytest.raises(BrokerUnreachable, match=why),
        requests.turn(AT, 0.01),
    ):
        raise AssertionError("asked")
    assert slots_of(requests)[AT][1::2] == [1, 1]
    with requests.turn(AT, 0):
        assert slots_of(requests)[AT][0] == 2


def test_a_turn_ends_with_its_request_also_where_that_fails(requests):
    for _ in range(5):
        with pytest.raises(OSError, match="gone"), requests.turn(AT, 0):
            raise OSError("gone")


def test_librdkafka_tells_sums_and_what_they_grew_by_is_counted(requests):
    listen = LibraryStatistics(requests)
    rtt = {"cnt": 100, "p50": 900, "p95": 4_000, "p99": 9_000, "max": 20_000}
    listen(statistics_of(req={"ApiVersion": 1, "ListOffsets": 0}, txbytes=50, rxbytes=400))
    listen(
        statistics_of(req={"ApiVersion": 1, "ListOffsets": 100}, txbytes=5_050, rxbytes=9_400, req_timeouts=3, rtt=rtt)
    )
    listen(
        statistics_of(req={"ApiVersion": 1, "ListOffsets": 100}, txbytes=5_050, rxbytes=9_400, req_timeouts=3, rtt=rtt)
    )
    result = rows_of(requests)
    assert result[AT, "ListOffsets", LIBRARY][0] == 100
    assert result[AT, "ApiVersions", LIBRARY][0] == 1
    count, errors, sent, received, buckets = result[AT, ALL_APIS, LIBRARY]
    assert (count, errors, sent, received) == (101, 3, 5_050, 9_400)
    assert sorted(buckets.values()) == [1, 4, 45, 50]


def test_a_client_that_begins_anew_takes_nothing_away(requests):
    listen = LibraryStatistics(requests)
    listen(statistics_of(req={"Fetch": 10}, txbytes=1_000, rxbytes=1_000))
    listen(statistics_of(req={"Fetch": 2}, txbytes=200, rxbytes=200))
    assert rows_of(requests)[AT, ALL_APIS, LIBRARY][:4] == [10, 0, 1_000, 1_000]


def test_what_is_under_way_and_waits_in_librdkafka_is_told(requests):
    LibraryStatistics(requests)(statistics_of(req={"Fetch": 1}, waitresp_cnt=8, outbuf_cnt=3))
    assert slots_of(requests)[AT][:2] == [8, 3]


def test_what_waits_for_a_connection_has_not_reached_the_budget(requests):
    LibraryStatistics(requests)(statistics_of(req={"Fetch": 1}, waitresp_cnt=1, outbuf_cnt=3))
    assert slots_of(requests)[AT][:2] == [1, 0]


def test_where_nobody_polls_nothing_is_told(monkeypatch):
    monkeypatch.setattr(counted, "PROCESS", Process())
    assert statistics() == {}
    begin("web")
    assert statistics(700)["statistics.interval.ms"] == 700
