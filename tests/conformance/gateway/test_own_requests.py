"""What the console asks of real brokers is counted, by our own client and by librdkafka's, and told of each broker."""

import pytest

from console.kit.gateway.connection import own_requests as counted
from console.kit.gateway.connection.own_requests import ALL_APIS, LIBRARY, OURS, OwnRequests, Process
from tests.barnabas_cluster import await_true
from tests.conformance.gateway.real import kafka_gateway


@pytest.fixture
def requests(monkeypatch):
    requests = OwnRequests(8)
    monkeypatch.setattr(counted, "PROCESS", Process("web", True))
    monkeypatch.setattr(counted, "_of", lambda _cluster: requests)
    monkeypatch.setattr(counted.statistics, "__defaults__", (100,))
    return requests


def test_requests_to_real_brokers_are_counted_by_broker_and_api(requests, running_brokers, topic_name):
    gateway = kafka_gateway(running_brokers)
    gateway.create_topic(topic_name, 1, 1)
    gateway.describe_topics()
    gateway.brokers.log_dirs()
    place = gateway.produce_record(topic_name, 0, b"k", b"x" * 1_000)
    stream = gateway.open_records(topic_name, {0: place[1]}, False)
    await_true(lambda: stream.read(0.2, 10), "the record is read")
    stream.close()

    def row_of() -> dict:
        for client in requests.clients:
            client.poll_statistics()
        return {tuple(row[:3]): row[3:] for row in requests.snapshot()["rows"]}

    def by_api(by: str) -> set[str]:
        return {api for address, api, who in row_of() if who == by and address}

    await_true(lambda: {"ListOffsets", "Metadata", "CreateTopics"} & by_api(LIBRARY), "librdkafka tells")
    assert "DescribeLogDirs" in by_api(OURS)
    addresses = {address for address, *_ in row_of()} - {""}
    assert addresses <= set(running_brokers.bootstrap_servers.split(","))
    (address,) = {address for address, api, by in row_of() if api == "DescribeLogDirs"}
    count, errors, sent, received, buckets = row_of()[address, "DescribeLogDirs", OURS]
    assert (count, errors, sum(buckets.values())) == (1, 0, 1)
    assert 0 < sent < received
    together = row_of()[address, ALL_APIS, LIBRARY]
    assert together[0] > 0
    assert together[3] > together[2] > 0
    assert row_of()["", "Produce", LIBRARY][0] == 1
    gateway.close()
