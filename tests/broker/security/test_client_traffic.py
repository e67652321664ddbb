"""Which clients write and read topics: counted, as rates, forgotten, and within a share for each client."""

import gc

import pytest

from broker.common.limits import CLIENT_ID_LENGTH_MAX
from broker.common.security_limits import (
    CLIENT_SOFTWARE_LENGTH_MAX,
    CLIENT_TRAFFIC_FORGOTTEN_MS,
    CLIENT_TRAFFIC_WINDOW_MS,
)
from broker.security.client_traffic import UNMET, ClientIdentity, TrafficCounters
from broker.security.session import Session
from tests.manual_clock import ManualClock

APP = ClientIdentity("User:app", "app-1", "10.0.0.1", "librdkafka", "2.16.0")
OTHER_APP = ClientIdentity("User:other", "other", "10.0.0.2")


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def traffic(clock):
    return TrafficCounters(clock.monotonic_ms)


def write(traffic, identity, topic, records=1, size=100):
    client = traffic.of(identity)
    counter = client.produced[topic]
    counter.records += records
    counter.bytes += size
    return client


def sweep(traffic):
    idle_max_ms = traffic.idle_max_ms()
    for client in (*traffic.clients(), traffic.others):
        traffic.sweep(client, idle_max_ms)


def topics(client):
    return sorted(client.produced)


def test_what_a_client_writes_and_reads_is_counted_by_topic(traffic):
    client = write(traffic, APP, "orders", 3, 300)
    write(traffic, APP, "orders", 2, 200)
    write(traffic, APP, "invoices")
    client.read["orders"].records += 7
    assert traffic.clients() == [client]
    assert (client.produced["orders"].records, client.produced["orders"].bytes) == (5, 500)
    assert (client.produced["invoices"].records, client.read["orders"].records) == (1, 7)


def test_connections_of_the_same_client_share_their_counters_and_another_library_is_another_client(traffic):
    first = traffic.of(APP)
    assert traffic.of(APP) is first
    assert traffic.of(APP._replace(software_version="2.17.0")) is not first


def test_a_client_that_has_written_nothing_is_not_told_of(traffic):
    client = traffic.of(APP)
    assert traffic.clients() == []
    assert len(client) == 0


def test_a_client_that_has_written_nothing_costs_nothing_when_it_is_gone(traffic):
    gc.disable()
    try:
        for number in range(100):
            traffic.of(APP._replace(client_id=str(number)))
        assert len(traffic._known) == 0
    finally:
        gc.enable()


def test_a_rate_covers_the_window_under_way_and_the_one_before(traffic, clock):
    counter = write(traffic, APP, "orders", 0, 0).produced["orders"]
    for _ in range(4):
        clock.advance(CLIENT_TRAFFIC_WINDOW_MS)
        counter.records += 150
        counter.bytes += 15_000
        sweep(traffic)
    seconds = CLIENT_TRAFFIC_WINDOW_MS / 1_000
    assert counter.per_second(clock.monotonic_ms()) == (pytest.approx(150 / seconds), pytest.approx(15_000 / seconds))


def test_a_client_that_stops_is_at_zero_two_windows_later_and_says_since_when(traffic, clock):
    counter = write(traffic, APP, "orders", 1_000).produced["orders"]
    assert counter.used_ms(clock.monotonic_ms()) == clock.monotonic_ms()
    sweep(traffic)
    last_used_ms = clock.monotonic_ms()
    for _ in range(2):
        clock.advance(CLIENT_TRAFFIC_WINDOW_MS)
        sweep(traffic)
    assert counter.per_second(clock.monotonic_ms()) == (0, 0)
    assert counter.used_ms(clock.monotonic_ms()) == last_used_ms
    assert counter.records == 1_000


def test_the_first_batch_of_a_client_is_no_storm(traffic, clock):
    counter = write(traffic, APP, "orders", 10).produced["orders"]
    clock.advance(1)
    assert counter.per_second(clock.monotonic_ms())[0] == 10


def test_a_silent_client_is_forgotten_and_met_anew_by_the_connection_that_it_still_has(traffic, clock):
    client = write(traffic, APP, "orders")
    sweep(traffic)
    clock.advance(CLIENT_TRAFFIC_FORGOTTEN_MS)
    sweep(traffic)
    assert traffic.clients() == []
    assert traffic.budget.held == 0
    client.produced["orders"].records += 1
    assert traffic.clients() == [client]
    assert client.produced["orders"].records == 1


def test_a_million_client_ids_of_one_client_leave_room_for_others(clock):
    traffic = TrafficCounters(clock.monotonic_ms, counters_max=100)
    kept = [write(traffic, APP._replace(client_id=f"made-up-{number}"), "orders") for number in range(200)]
    assert len(traffic.clients()) < 75
    assert sum(len(client) for client in traffic.clients()) == traffic.budget.held
    other = write(traffic, OTHER_APP, "orders", 9)
    assert other in traffic.clients()
    assert traffic.others.produced["orders"].records == 200 - (len(traffic.clients()) - 1)
    assert len(kept[-1]) == 0


def test_what_finds_no_room_is_counted_by_topic_in_its_direction(clock):
    traffic = TrafficCounters(clock.monotonic_ms, counters_max=0)
    client = write(traffic, APP, "orders", 4)
    client.read["orders"].records += 5
    assert traffic.clients() == []
    assert traffic.others.produced["orders"].records == 4
    assert traffic.others.read["orders"].records == 5


def test_once_room_lacked_silent_clients_are_forgotten_within_a_window(clock):
    traffic = TrafficCounters(clock.monotonic_ms, counters_max=10)
    for number in range(10):
        write(traffic, APP._replace(client_id=str(number)), "orders")
    sweep(traffic)
    clock.advance(CLIENT_TRAFFIC_WINDOW_MS)
    assert topics(write(traffic, APP._replace(client_id="newest"), "orders")) == []
    sweep(traffic)
    assert traffic.clients() == []
    assert topics(write(traffic, APP._replace(client_id="newest"), "orders")) == ["orders"]


def test_of_the_names_that_clients_choose_so_much_is_kept(traffic):
    long = ClientIdentity("User:app", "i" * 10_000, "10.0.0.1", "n" * 1_000, "v" * 1_000)
    kept = traffic.of(long).identity
    assert kept.client_id == "i" * CLIENT_ID_LENGTH_MAX
    assert (len(kept.software_name), len(kept.software_version)) == (CLIENT_SOFTWARE_LENGTH_MAX,) * 2
    assert traffic.of(long) is traffic.of(long._replace(client_id="i" * 20_000))


def test_a_session_that_logs_in_anew_or_names_its_library_is_another_client():
    session = Session("10.0.0.1", "PLAINTEXT")
    client = TrafficCounters(lambda: 0).of(APP)
    session.traffic = client
    session.introduce("librdkafka", "2.16.0")
    assert session.traffic is UNMET
    session.traffic = client
    session.principal = "User:app"
    assert session.traffic is UNMET
    assert session.identity("app-1") == APP
