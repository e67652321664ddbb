"""What a topic holds is read and counted while somebody waits, and is there for who comes after."""

import json

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.browser.conftest import screenshot

pytestmark = [pytest.mark.browser, pytest.mark.timeout(280)]
TOPIC = "journey.contents"


def test_a_topic_is_counted_and_the_next_page_has_it_without_reading(page, product):
    admin = AdminClient(product.client)
    admin.create_topics([NewTopic(TOPIC, 3, 3)])[TOPIC].result(30)
    producer = Producer({**product.client, "linger.ms": 50, "compression.type": "zstd"})
    for number in range(5_000):
        value = json.dumps({"id": number, "to": {"city": "Bern"}}) if number % 10 else None
        producer.produce(TOPIC, value, f"customer-{number % 500}", headers={"trace": "t"})
    assert producer.flush(30) == 0

    page.goto(f"{product.console}/topics/")
    page.get_by_role("link", name=TOPIC, exact=True).click()
    page.get_by_role("link", name="Contents", exact=True).click()
    expect(page.get_by_text("No statistics yet.")).to_be_visible()
    page.get_by_role("button", name="Read and count").click()

    expect(page.get_by_role("heading", name="Fields")).to_be_visible()
    expect(page.locator("dl.summary").first).to_contain_text("Different keys")
    for text in ("value.to.city", "Bern", "customer-1", "trace", "Compressed by zstd"):
        expect(page.get_by_text(text, exact=True).first).to_be_visible()
    expect(page.locator("dl.summary > div", has_text="Without a value")).to_contain_text("500")
    screenshot(page, "contents")

    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_text("Counted ")).to_contain_text("the newest 10,000 offsets, end reached")
