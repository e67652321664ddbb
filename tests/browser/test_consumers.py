"""Consumer groups as an operator meets them: lag that moves, a reset with its dry run, and the way back."""

import contextlib
import re
import threading

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.browser.conftest import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(280)]
TOPIC = "journey.payments"
RECORDS = 200


@pytest.fixture(scope="module")
def topic(product):
    admin = AdminClient({**product.client})
    admin.create_topics([NewTopic(TOPIC, 3, 3)])[TOPIC].result(30)
    produce(product, RECORDS)
    return TOPIC


def produce(product, count: int) -> None:
    producer = Producer({**product.client})
    for number in range(count):
        for partition in range(3):
            producer.produce(TOPIC, f"payment {number}", partition=partition)
    assert producer.flush(30) == 0


@pytest.fixture(scope="module")
def night_batch(product, topic):
    """A group of nobody that has read a part."""
    group = "journey.night-batch"
    consumer = Consumer({**product.client, "group.id": group})
    places = [TopicPartition(topic, partition, 50 * (partition + 1)) for partition in range(3)]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()
    yield group
    admin = AdminClient({**product.client})
    admin.delete_consumer_groups([group])[group].result(30)


@pytest.fixture(scope="module")
def billing(product, topic):
    """A group with a member that reads everything there is, for as long as the module runs."""
    group = "journey.billing"
    stop = threading.Event()
    thread = threading.Thread(target=_read_on, args=(product, group, stop), daemon=True)
    thread.start()
    yield group
    stop.set()
    thread.join(20)


def _read_on(product, group: str, stop: threading.Event) -> None:
    settings = {
        **product.client,
        "group.id": group,
        "client.id": "billing-service",
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 1_000,
    }
    with contextlib.closing(Consumer(settings)) as consumer:
        consumer.subscribe([TOPIC])
        while not stop.is_set():
            consumer.poll(0.2)


def lag_in_list(page, group: str):
    row = page.locator("tr", has=page.get_by_role("link", name=group, exact=True))
    return row.locator("[data-cell=lag]")


def test_lag_moves_in_the_list_and_offsets_are_reset_by_plan_and_put_back(
    page, product, night_batch, billing, chromium
):
    page.goto(f"{product.console}/consumers/")
    expect(lag_in_list(page, night_batch)).to_have_text("300")
    expect(lag_in_list(page, billing)).to_have_text("0")
    page.evaluate("window.stillTheSamePage = true")
    produce(product, 10)
    expect(lag_in_list(page, night_batch)).to_have_text("330")
    assert page.evaluate("window.stillTheSamePage") is True

    page.get_by_role("link", name=night_batch, exact=True).click()
    expect(page.locator("#group-places")).to_contain_text("150")
    page.get_by_role("link", name="Reset offsets…").click()
    page.get_by_label("Put offsets to").select_option("shift")
    page.get_by_label("Topic").fill(TOPIC)
    page.get_by_label("Offset or shift").fill("-20")
    page.get_by_role("button", name="Show the plan").click()
    expect(page.get_by_text("60 records will be read a second time.")).to_be_visible()
    page.get_by_text("As a command").click()
    expect(page.get_by_text("--reset-offsets --from-file offsets.csv --execute")).to_be_visible()
    plan = page.url.removeprefix(product.console)
    pictures = {
        "consumers": "/consumers/",
        "group": f"/consumers/{night_batch}/",
        "group-of-members": f"/consumers/{billing}/",
    }
    pictures |= {
        "consumers-of-topic": f"/topics/{TOPIC}/+consumers/",
        "group-delete": f"/consumers/{night_batch}/+delete/",
    }
    pictures |= {"reset-plan": plan, "reset-refused": f"/consumers/{billing}/+reset/?to=earliest"}
    take_pictures(chromium, product, "consumers", pictures)

    page.get_by_role("button", name="Reset 3 offsets").click()
    expect(page.get_by_text(f"Offsets of {night_batch} were reset.")).to_be_visible()
    expect(page.locator("#object-figures [data-cell=lag]")).to_have_text("390")

    page.get_by_role("link", name="Plan the undo").click()
    page.get_by_role("button", name="Reset 3 offsets").click()
    expect(page.locator("#object-figures [data-cell=lag]")).to_have_text("330")


def test_a_group_with_members_says_why_it_is_not_reset(page, product, billing):
    page.goto(f"{product.console}/consumers/")
    page.get_by_role("link", name=billing, exact=True).click()
    expect(page.locator("#group-members")).to_contain_text("billing-service")
    page.get_by_role("link", name="Reset offsets…").click()
    page.get_by_role("button", name="Show the plan").click()
    expect(page.get_by_text("Stop its consumers").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Reset "), disabled=False)).to_have_count(0)
