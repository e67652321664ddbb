"""Quotas on real brokers: set by the command, held by the brokers, kept by librdkafka, felt by nobody else."""

import re

import pytest
from confluent_kafka import Consumer, Producer

from tests.barnabas_cluster import await_true
from tests.typed import typed

VALUE = b"x" * 1_000
RATE = 50_000


@pytest.fixture
def configs(cluster):
    """`kafka-configs` on the cluster."""
    return lambda *words: typed("kafka-configs", "--bootstrap-server", cluster.bootstrap_servers, *words)


@pytest.fixture
def topic(cluster, name):
    typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, "--create", "--topic", name)
    return name


def metric(cluster, which, client_id):
    """The largest that a broker tells of a client id; None if none tells any."""
    result = re.compile(rf'^barnabas_broker_quota_{which}{{client_id="{client_id}",.*}} (\S+)$', re.MULTILINE)
    values = [float(value) for broker in cluster.brokers for value in result.findall(broker.get("/metrics"))]
    return max(values, default=None)


def limited(cluster, configs, client_id, key, rate=RATE):
    done = configs("--alter", "--client", client_id, "--add-config", f"{key}={rate}")
    assert done == (0, f"Completed updating config for client {client_id}.\n", "")


def produce(cluster, topic, client_id, count):
    """How often, and for how long together, the client was told to wait, in s."""
    messages = []
    config = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": client_id, "batch.size": 8_000}
    producer = Producer({**config, "throttle_cb": lambda event: messages.append(event.throttle_time)})
    for _ in range(count):
        producer.produce(topic, VALUE)
        producer.poll(0)
    assert producer.flush(60) == 0
    return [item for item in messages if item]


def is_bound(cluster, topic):
    """Who sets a quota is answered when it is kept; brokers hear of it from ZooKeeper."""
    produce(cluster, topic, topic, 1)
    return metric(cluster, "limit", topic) == RATE


def test_a_producer_is_held_to_its_rate_and_a_bystander_is_not(cluster, configs, topic):
    limited(cluster, configs, topic, "producer_byte_rate")
    await_true(lambda: is_bound(cluster, topic), "the topic's leader has heard of the quota", 30)
    # Ten seconds' worth is a burst; of 120 KB more the second half of the wait is for the last requests.
    throttled = produce(cluster, topic, topic, 620)
    assert throttled
    assert metric(cluster, "throttled_ms_total", topic) > 0
    # One request of 8 KB may go beyond the bound before it is waited for.
    assert metric(cluster, "rate", topic) <= RATE + 8_500 / 10
    assert produce(cluster, topic, f"{topic}-other", 620) == []
    assert metric(cluster, "limit", f"{topic}-other") is None


def test_a_consumer_is_held_to_its_rate_and_misses_nothing(cluster, configs, topic):
    produce(cluster, topic, f"{topic}-other", 700)
    limited(cluster, configs, topic, "consumer_byte_rate")
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "client.id": topic,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "fetch.message.max.bytes": 40_000,
        }
    )
    consumer.subscribe([topic])
    offsets = []
    try:
        await_true(lambda: _poll(consumer, offsets) and len(offsets) >= 700, "all 700 are read", 60)
    finally:
        consumer.close()
    assert offsets == list(range(700))
    assert metric(cluster, "throttled_ms_total", topic) > 0
    assert metric(cluster, "rate", topic) <= RATE


def _poll(consumer, offsets):
    offsets += [message.offset() for message in consumer.consume(100, 0.2) if not message.error()]
    return True


def test_users_client_ids_and_addresses_are_set_told_and_taken_away(configs, name):
    pair = ("--entity-type", "users", "--entity-name", name, "--entity-type", "clients", "--entity-name", "c d")
    done = configs("--alter", *pair, "--add-config", "producer_byte_rate=1024,request_percentage=50")
    assert done == (0, f"Completed updating config for user {name}.\n", "")
    line = (
        f"Quota configs for user-principal '{name}', client-id 'c d' are producer_byte_rate=1024.0, "
        "request_percentage=50.0\n"
    )
    assert configs("--describe", *pair) == (0, line, "")
    assert configs("--describe", "--user", name).out == ""
    taken = configs("--alter", *pair, "--delete-config", "producer_byte_rate,request_percentage")
    assert taken.status == 0
    assert configs("--describe", *pair).out == ""
    default = ("--entity-type", "users", "--entity-name", name, "--entity-type", "clients", "--entity-default")
    configs("--alter", *default, "--add-config", "controller_mutation_rate=0.5")
    assert configs("--describe", *default).out == (
        f"Quota configs for user-principal '{name}', the default client-id are controller_mutation_rate=0.5\n"
    )
    configs("--alter", "--ip", "127.0.0.9", "--add-config", "connection_creation_rate=10")
    assert configs("--describe", "--ip", "127.0.0.9").out == (
        "Quota configs for ip '127.0.0.9' are connection_creation_rate=10.0\n"
    )


@pytest.mark.parametrize("setting", ["producer_byte_rate=1.5", "producer_byte_rate=0"])
def test_what_cannot_be_is_refused(configs, name, setting):
    refused = configs("--alter", "--user", name, "--add-config", setting)
    assert refused.status == 1
    assert refused.err.startswith("Error while executing config command: ")


def test_a_name_that_no_quota_has_is_refused(configs, name):
    refused = configs("--alter", "--user", name, "--add-config", "nonsense=1")
    assert (refused.status, "Unexpected config names: nonsense" in refused.err) == (1, True)


def test_the_zookeeper_generation_says_what_it_said(cluster, name):
    old = ("kafka-configs", "--zookeeper", cluster.brokers[0].zookeeper_connect)
    pair = ("--entity-type", "clients", "--entity-default", "--entity-type", "users", "--entity-name", name)
    altered = typed(*old, "--alter", *pair, "--add-config", "producer_byte_rate=10000000")
    whose = f"user-principal '{name}', default client-id"
    assert altered.out.splitlines()[-1] == f"Completed Updating config for entity: {whose}."
    output = typed(*old, "--describe", *pair).out
    assert output.splitlines()[-1] == f"Configs for {whose} are producer_byte_rate=10000000"
