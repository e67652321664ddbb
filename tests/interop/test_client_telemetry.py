"""Clients push their own metrics (KIP-714): librdkafka to `/metrics` of a broker, Java's by Kafka's own tool."""

import re
import shutil
from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from broker.client.connection import BrokerConnection
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from tests.apache_kafka import java
from tests.barnabas_cluster import Cluster, await_true
from tests.fetched import KAFKA, class_path

_SERIES = re.compile(r'^barnabas_broker_client_metric(_sum)?\{.*client_id="(?P<client>[^"]*)".*name="(?P<name>[^"]*)"')
_PRODUCED = "org.apache.kafka.tools.ProducerPerformance"
_CLIENT_METRICS = "org.apache.kafka.tools.ClientMetricsCommand"


def subscribe(cluster: Cluster, name: str, settings: dict[str, str]) -> None:
    configs = [
        AlterableConfig(name=key, config_operation=ConfigOperation.SET, value=value) for key, value in settings.items()
    ]
    resource = AlterConfigsResource(resource_type=16, resource_name=name, configs=configs)
    broker = cluster.brokers[0]
    with BrokerConnection(broker.host, broker.port) as connection:
        response = connection.ask(IncrementalAlterConfigsRequest(resources=[resource]))
    assert [result.error_code for result in response.responses] == [0]


def names_pushed(cluster: Cluster, client: str) -> dict[str, float]:
    """Return the largest value of each metric that the client pushed."""
    pushed: dict[str, float] = {}
    for line in cluster.brokers[0].get("/metrics").splitlines():
        series = _SERIES.match(line)
        if series and series["client"] == client:
            pushed[series["name"]] = max(float(line.rsplit(" ", 1)[1]), pushed.get(series["name"], 0.0))
    return pushed


def await_pushed(cluster: Cluster, client: str, wanted: Callable[[dict[str, float]], object]) -> None:
    await_true(lambda: wanted(names_pushed(cluster, client)), f"{client} pushes", 60)


def test_librdkafka_pushes_what_a_subscription_asks_for(with_quick_chores, name):
    servers = {"bootstrap.servers": with_quick_chores.bootstrap_servers}
    settings = {"interval.ms": "500", "metrics": "org.apache.kafka.producer.", "match": f"client_id={name}"}
    subscribe(with_quick_chores, name, settings)
    producer = Producer({**servers, "client.id": name, "enable.metrics.push": True})
    producer.produce(name, b"value")
    assert producer.flush(30) == 0
    await_pushed(
        with_quick_chores, name, lambda pushed: "org.apache.kafka.producer.connection.creation.total" in pushed
    )


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.which("java") is None, reason="no Java")
def test_javas_producer_pushes_how_many_records_it_sent(with_quick_chores, name):
    jars, to = class_path(KAFKA, fetch=True), ("--bootstrap-server", with_quick_chores.bootstrap_servers)
    subscription = ("--alter", "--name", "java", "--metrics", "*", "--interval", "1000")
    altered = java(_CLIENT_METRICS, *to, *subscription, jars=jars)
    assert altered.stdout == "Altered client metrics config for java.\n", altered.stderr[-2000:]
    words = ("--topic", name, "--num-records", "50", "--record-size", "10", "--throughput", "10")
    java(_PRODUCED, *to, *words, jars=jars, check=True)
    sent = "org.apache.kafka.producer.record.send.total"
    await_pushed(with_quick_chores, "perf-producer-client", lambda pushed: pushed.get(sent) == 50)
