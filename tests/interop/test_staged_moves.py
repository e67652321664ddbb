"""A move in batches over three real brokers: slowed, called off half-way, resumed, and all there at the end."""

import json

import pytest
from confluent_kafka import Producer
from django.contrib.auth.models import User
from django.test import Client

from console.automation.staged_moves.advance import advance
from console.automation.staged_moves.models import StagedMove
from console.kit.gateway.moves.interface import RATE_KEYS
from console.shell.collector.collector import Collector
from tests.barnabas_cluster import await_true, running_cluster
from tests.conformance.gateway.real import kafka_gateway
from tests.console.confirming import digest_in

ADDRESS = "/placement/+staged/"
TOPIC = "orders"
PARTITIONS, RECORD_BYTES, RECORDS = 4, 10_000, 2_000
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def brokers(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("staged"), brokers=3, zookeeper=zookeeper) as running:
        yield running


@pytest.fixture
def gateway(brokers, settings, tmp_path):
    settings.CLUSTER_GATEWAY = result = kafka_gateway(brokers)
    settings.BOOTSTRAP_SERVERS = brokers.bootstrap_servers
    settings.AUDIT_END_FILE, settings.REQUEST_LOG_FILE = tmp_path / "audit-end", tmp_path / "access.log"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    result.create_topic(TOPIC, PARTITIONS, 2)
    await_true(lambda: len(placed(result)) == PARTITIONS, "the topic is placed")
    yield result
    result.close()


@pytest.fixture
def browser():
    client = Client()
    client.force_login(User.objects.create_superuser("admin"))
    return client


def placed(gateway) -> dict[int, tuple[int, ...]]:
    return {partition: has for (_, partition), has in gateway.moves.assignments([TOPIC]).items()}


def fill(brokers) -> None:
    producer = Producer({"bootstrap.servers": brokers.bootstrap_servers, "acks": "all"})
    for number in range(RECORDS):
        producer.produce(TOPIC, bytes(RECORD_BYTES), partition=number % PARTITIONS)
    assert producer.flush(60) == 0


def rates(gateway) -> set[str | None]:
    return {broker[RATE_KEYS[0]] for broker in gateway.moves.throttles([1, 2, 3], []).brokers.values()}


def confirmed(browser, address: str, sent: dict[str, str], query: str = "") -> None:
    shown = browser.get(address + query) if query or not sent else browser.post(address, sent)
    assert browser.post(address, sent | {"digest": digest_in(shown)}).status_code == 302


def test_batches_move_between_real_brokers(brokers, gateway, browser):
    fill(brokers)
    collector = Collector(gateway, list)
    collector.collect_cluster()
    collector.collect_topics()
    former = placed(gateway)
    wanted = {number: [({1, 2, 3} - set(has)).pop(), has[1]] for number, has in former.items()}
    moves = json.dumps({TOPIC: {str(number): has for number, has in wanted.items()}})
    confirmed(browser, ADDRESS, {"moves": moves, "size": "2", "throttle": "0.02"})

    def step() -> StagedMove:
        collector.look("moves")
        advance(StagedMove.objects.get())
        return StagedMove.objects.get()

    number = step().pk
    assert {partition for _, partition in gateway.moves.under_way()} == {0, 1}
    assert rates(gateway) == {"20000"}

    confirmed(browser, f"{ADDRESS}{number}/cancel/", {})
    await_true(lambda: not gateway.moves.under_way(), "what was on the move is called off")
    await_true(lambda: step() and rates(gateway) == {None}, "its throttle is gone")
    assert {number: set(has) for number, has in placed(gateway).items()} == {n: set(has) for n, has in former.items()}
    assert StagedMove.objects.get().state == "paused"

    browser.post(f"{ADDRESS}{number}/resume")
    await_true(lambda: step().batches == 2, "it goes on")
    assert rates(gateway) == {"20000"}
    confirmed(browser, f"{ADDRESS}{number}/throttle/", {"throttle": "500"}, "?throttle=500")
    assert rates(gateway) == {"500000000"}

    await_true(lambda: step().state == "done", "all of it has arrived", 120)
    assert {number: list(has) for number, has in placed(gateway).items()} == wanted
    assert rates(gateway) == {None}
    assert StagedMove.objects.get().sentence == "All 4 partitions arrived."
