"""All brokers are restarted one after the other while a producer and a consumer work: neither notices."""

import threading
import time
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.browser.conftest import take_pictures

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(400)]
TOPIC = "journey.rolling"
#: Three times a stop, a start and catching up, on a machine that does other things too.
ROLLED_MS = 240_000
#: A consumer that gets nothing for so long will get no more.
QUIET_S = 60


class Load:
    """A producer that wants acks of all replicas, and a consumer that reads along."""

    def __init__(self, client: dict[str, str]):
        self.client = client
        self.delivered: list[int] = []
        self.failures: list[str] = []
        self.read: set[int] = set()
        self.is_over = threading.Event()
        self.is_all_delivered = threading.Event()

    def produce(self) -> None:
        producer = Producer({**self.client, "acks": "all", "linger.ms": 5})

        def note(error, message) -> None:
            if error:
                self.failures.append(str(error))
            else:
                self.delivered.append(int(message.value()))

        number = 0
        while not self.is_over.is_set():
            producer.produce(TOPIC, str(number), on_delivery=note)
            number += 1
            producer.poll(0.005)
        if producer.flush(60):
            self.failures.append("not everything was delivered in time")
        self.is_all_delivered.set()

    def consume(self) -> None:
        settings = {**self.client, "group.id": TOPIC, "auto.offset.reset": "earliest"}
        consumer = Consumer(settings)
        consumer.subscribe([TOPIC])
        last_read_at = time.monotonic()
        while not self.is_all_delivered.is_set() or len(self.read) < len(self.delivered):
            message = consumer.poll(0.2)
            if message is not None and message.error():
                self.failures.append(str(message.error()))
            elif message is not None:
                self.read.add(int(message.value()))
                last_read_at = time.monotonic()
            if time.monotonic() > last_read_at + QUIET_S:
                break
        consumer.close()


@contextmanager
def under_load(client: dict[str, str]):
    load = Load(client)
    producing, consuming = threading.Thread(target=load.produce), threading.Thread(target=load.consume)
    producing.start()
    consuming.start()
    try:
        yield load
    finally:
        load.is_over.set()
        producing.join()
        consuming.join()


@pytest.fixture
def topic(product):
    admin = AdminClient({**product.client})
    admin.create_topics([NewTopic(TOPIC, 3, replication_factor=3)])[TOPIC].result(30)


def accept_gaps(page) -> None:
    """Topics of other journeys may have one replica only; the one under load has three."""
    box = page.locator("input[name=typed_name]")
    if box.count():
        box.fill("all brokers")


def test_three_brokers_are_restarted_under_load_and_no_client_notices(page, product, topic, chromium):
    page.goto(f"{product.console}/processes/")
    page.get_by_role("link", name="Restart brokers one by one…").click()
    expect(page.locator("#rolling-order tbody tr")).to_have_count(3)
    take_pictures(chromium, product, "plan", {"rolling": "/processes/+rolling-restart/"})
    pids = pids_of_brokers(page, product)
    page.goto(f"{product.console}/processes/+rolling-restart/")
    with under_load(product.client) as load:
        accept_gaps(page)
        page.get_by_role("button", name="Restart 3 brokers").click()
        running = page.locator("#rolling-restart")
        expect(running).to_have_attribute("data-state", "running")
        expect(running.locator("[data-progress=done]")).to_have_count(1, timeout=ROLLED_MS)
        take_pictures(chromium, product, "under-way", {"rolling": "/processes/+rolling-restart/"})
        expect(running).to_have_attribute("data-state", "done", timeout=ROLLED_MS)
    assert load.failures == []
    assert len(load.delivered) > 100
    assert load.read == set(load.delivered)
    assert not set(pids) & set(pids_of_brokers(page, product))


def pids_of_brokers(page, product) -> list[str]:
    page.goto(f"{product.console}/processes/")
    return [page.locator(f"#process-broker-{number} [data-cell=pid]").inner_text() for number in (1, 2, 3)]
