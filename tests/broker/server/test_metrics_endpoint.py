"""`/metrics` beside a broker that serves whatever becomes of it."""

import asyncio
import os
import socket

import pytest
from prometheus_client.core import GaugeMetricFamily
from structlog.testing import capture_logs

from broker.common.own_names import OwnNames
from broker.common.types import TopicPartition
from broker.runtime.controller.election_log import ElectionLog
from broker.server import metrics_endpoint
from broker.server.metrics import ControllerMetrics, new_registry
from broker.server.metrics_endpoint import MetricsEndpoint
from tests.eventually import eventually


async def answer_of(port: int, path: str, *lines: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join((f"GET {path} HTTP/1.1", *lines, "", "")).encode())
    answer = await reader.read()
    writer.close()
    return answer


@pytest.fixture
async def endpoint(monkeypatch):
    monkeypatch.setattr(metrics_endpoint, "_TRY_AGAIN_S", 0.01)
    endpoint = MetricsEndpoint(new_registry(), lambda: "", OwnNames("metrics.allowed.hosts", (), ("broker-1",)))
    yield endpoint
    await endpoint.stop()


async def test_a_port_that_is_taken_is_warned_of_and_served_when_it_is_free(endpoint):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with capture_logs() as lines:
            await endpoint.start("127.0.0.1", port)
        assert [(line["log_level"], line["address"]) for line in lines] == [("warning", f"127.0.0.1:{port}")]
        assert "has it" in lines[0]["who"]
    await eventually(lambda: endpoint._server is not None, "the port is had")
    assert (await answer_of(port, "/healthz")).endswith(b"ok\n")


async def test_whoever_stops_while_it_is_tried_tries_no_more(endpoint):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        await endpoint.start("127.0.0.1", taken.getsockname()[1])
        await endpoint.stop()
        await asyncio.gather(endpoint._trying, return_exceptions=True)
        assert endpoint._trying.cancelled()


async def test_those_that_are_asked_for_by_name_are_told_alone_and_the_others_not_even_counted(endpoint):
    class Counted:
        def describe(self):
            yield GaugeMetricFamily("wanted", "told by name")

        def collect(self):
            yield GaugeMetricFamily("wanted", "told by name", value=1)

    class Costly:
        def collect(self):
            costly.append(1)
            return ()

    costly: list[int] = []
    registry = endpoint._registry
    registry.register(Counted())
    registry.register(Costly())
    await endpoint.start("127.0.0.1", 0)
    port = endpoint._server.sockets[0].getsockname()[1]
    body = (await answer_of(port, "/metrics?name[]=wanted&name%5B%5D=unknown")).partition(b"\r\n\r\n")[2]
    assert (body.splitlines()[-1], body.count(b"# TYPE"), costly) == (b"wanted 1.0", 1, [])
    for query in ("", "?", "?other=1"):
        whole = await answer_of(port, f"/metrics{query}")
        assert whole.count(b"# TYPE") > 1
        assert b"wanted 1.0" in whole
    assert len(costly) == 3


async def test_metrics_are_asked_by_addresses_and_own_names_only(endpoint):
    await endpoint.start("127.0.0.1", 0)
    port = endpoint._server.sockets[0].getsockname()[1]
    for host in (f"127.0.0.1:{port}", f"broker-1:{port}"):
        assert b" 200 OK" in await answer_of(port, "/metrics", f"Host: {host}")
    refused = await answer_of(port, "/metrics", f"hOsT:evil.example:{port}")
    assert b" 403 " in refused
    assert b"metrics.allowed.hosts" in refused


def test_the_controller_counts_unclean_elections_the_wait_for_logs_and_the_brokers_of_another_kafka():
    class Controller:
        election_log = ElectionLog()
        foreign_brokers = frozenset({21, 22})
        is_controller = True

    Controller.election_log.unclean_elections = 3
    Controller.election_log.note_restorations([TopicPartition("t", 0), TopicPartition("t", 1)], {})
    Controller.election_log.note_restorations([], {TopicPartition("t", 1): 2})
    elections, _eligible, waiting, foreign = ControllerMetrics(Controller()).collect()
    assert [(sample.name, sample.value) for sample in waiting.samples] == [
        ("barnabas_broker_partitions_awaiting_logs", 1)
    ]
    assert [(sample.name, sample.value) for sample in elections.samples][:1] == [
        ("barnabas_broker_unclean_leader_elections_total", 3)
    ]
    assert [(sample.name, sample.value) for sample in foreign.samples] == [("barnabas_broker_foreign_brokers", 2)]


async def test_a_client_that_reads_no_answer_is_hung_up_on(endpoint, monkeypatch):
    class Long:
        def collect(self):
            yield GaugeMetricFamily("long", "x" * 32 * 1024 * 1024, value=1)

    monkeypatch.setattr(metrics_endpoint, "_TIMEOUT_S", 0.5)
    endpoint._registry.register(Long())
    await endpoint.start("127.0.0.1", 0)
    port = endpoint._server.sockets[0].getsockname()[1]
    before = len(os.listdir("/proc/self/fd"))
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.transport.pause_reading()
    writer.write(b"GET /metrics HTTP/1.1\r\n\r\n")
    await eventually(lambda: len(os.listdir("/proc/self/fd")) == before + 2, "both ends are open")
    await eventually(lambda: len(os.listdir("/proc/self/fd")) == before + 1, "the broker's end is closed")
    writer.transport.abort()
