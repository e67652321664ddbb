"""A topic's messages: produced in the page, seen live, found by search, opened by their own address."""

import re

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.browser.conftest import screenshot, take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(280)]
TOPIC = "journey.messages"
SCRIPT = "<img src=x onerror=\"document.title='run'\">"


def produce(product, values, topic: str = TOPIC) -> None:
    producer = Producer({**product.client, "linger.ms": 20})
    for number, value in enumerate(values):
        producer.produce(topic, value, f"customer-{number % 7}", headers={"trace": f"t-{number}"})
    assert producer.flush(30) == 0


def create_topic(page, product) -> None:
    page.goto(f"{product.console}/topics/")
    page.get_by_role("link", name="Create topic").click()
    page.get_by_label("Name").fill(TOPIC)
    page.get_by_label("Partitions").fill("3")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("It adds 9 replicas, about 3 on each of 3 brokers.")).to_be_visible()
    screenshot(page, "topic-create-plan")
    page.get_by_role("button", name="Create topic").click()
    expect(page.get_by_role("link", name=TOPIC, exact=True)).to_be_visible()


def test_a_record_is_produced_seen_live_and_found_by_search(page, product, chromium):
    create_topic(page, product)
    page.get_by_role("link", name=TOPIC, exact=True).click()
    page.get_by_role("link", name="Messages").click()
    expect(page.get_by_text("No record has been written to this topic yet.")).to_be_visible()

    follower = page.context.new_page()
    follower.goto(page.url)
    follower.get_by_role("button", name="Follow live").click()
    expect(follower.get_by_text("Following: what is written")).to_be_visible()

    page.get_by_role("link", name="Produce a record…").click()
    page.get_by_label("Key", exact=True).fill("customer-42")
    page.get_by_label("Value", exact=True).fill('{"order": 4711, "note": "' + SCRIPT.replace('"', '\\"') + '"}')
    page.get_by_label("Headers").fill("trace: abc-1")
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.get_by_text(re.compile("Appended to partition"))).to_be_visible()
    expect(page.locator("pre.log").last).to_contain_text('"order": 4711')
    expect(page.get_by_role("cell", name="abc-1")).to_be_visible()
    address = page.url.removeprefix(product.console)

    arrived = follower.locator("#record-rows tr", has_text="customer-42")
    expect(arrived).to_contain_text("4711")
    produce(product, [f"order number {n}" for n in range(400)])
    expect(follower.locator("#record-rows tr", has_text="order number 399")).to_be_visible()
    follower.locator("#records-live").get_by_role("button", name="Pause").click()
    expect(follower.locator("#records-live").get_by_text("Paused.")).to_be_visible()
    expect(follower.locator("#pause-banner")).to_be_hidden()
    assert follower.title() != "run"
    follower.close()

    page.goto(f"{product.console}/topics/{TOPIC}/+records/")
    page.get_by_label("Start at").select_option("oldest")
    page.get_by_label("Search", exact=True).fill("CUSTOMER-42")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_text("Searched all 401 records: 1 found.")).to_be_visible()
    rows = page.locator("#record-rows tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("4711")
    screenshot(page, "records-found")
    rows.get_by_role("link").click()
    drawer = page.get_by_role("dialog", name="The record")
    expect(drawer).to_contain_text('"order": 4711')
    assert page.title() != "run"
    screenshot(page, "records-drawer")
    drawer.get_by_role("link", name="Open").click()
    expect(page).to_have_url(re.compile(re.escape(address)))
    assert page.title() != "run"
    take_pictures(
        chromium,
        product,
        "page",
        {
            "records": f"/topics/{TOPIC}/+records/",
            "records-search": f"/topics/{TOPIC}/+records/?search=order&place=oldest",
            "records-produce": f"/topics/{TOPIC}/+records/?limit=25#produce",
            "record": address,
        },
    )


@pytest.mark.long
def test_pages_of_messages_lead_back_to_the_oldest(page, product):
    topic = f"{TOPIC}.pages"
    admin = AdminClient({**product.client})
    admin.create_topics([NewTopic(topic, 3, 3)])[topic].result(30)
    produce(product, [f"page number {n}" for n in range(401)], topic)
    page.goto(f"{product.console}/topics/")
    expect(page.get_by_role("link", name=topic, exact=True)).to_be_visible()
    page.goto(f"{product.console}/topics/{topic}/+records/?limit=200")
    rows = page.locator("#record-rows tr")
    expect(rows).to_have_count(200)
    page.get_by_role("link", name="Older").click()
    expect(rows).to_have_count(200)
    page.get_by_role("link", name="Older").click()
    expect(rows).to_have_count(1)
    expect(page.get_by_text("end reached")).to_be_visible()
    expect(page.get_by_role("link", name="Older")).to_have_count(0)


def test_records_are_gone_through_beside_their_list_and_compared(page, product):
    topic = f"{TOPIC}.orders"
    producer = Producer(product.client)
    for number in range(3):
        producer.produce(topic, f'{{"id": {number}, "customer": {{"name": "customer {number}"}}}}', partition=0)
    assert producer.flush(30) == 0
    page.goto(f"{product.console}/topics/")
    expect(page.get_by_role("link", name=topic, exact=True)).to_be_visible()
    page.goto(f"{product.console}/topics/{topic}/+records/?place=oldest&partition=0")
    rows = page.locator("#record-rows tr")
    expect(rows).to_have_count(3)
    expect(page.locator(".bars")).to_be_visible()

    page.locator("summary", has_text="Columns").click()
    page.get_by_label("value.customer.name").check()
    page.get_by_role("button", name="Show these").click()
    expect(rows.nth(2).get_by_role("cell", name="customer 2", exact=True)).to_be_visible()

    rows.nth(0).get_by_role("link").click()
    drawer = page.get_by_role("dialog", name="The record")
    expect(drawer).to_contain_text('"id": 0')
    page.keyboard.press("ArrowDown")
    expect(drawer).to_contain_text('"id": 1')
    drawer.get_by_role("link", name="JSON tree").click()
    expect(drawer.locator(".json-tree")).to_contain_text("customer 1")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(rows.nth(1).get_by_role("link")).to_be_focused()

    page.keyboard.press("Enter")
    drawer.get_by_role("link", name="Compare…").click()
    page.get_by_label("Right").fill("0:2")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("row", name='"id": 1, "id": 2,')).to_be_visible()
    screenshot(page, "records-compared")
