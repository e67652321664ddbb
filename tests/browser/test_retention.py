"""What would be deleted, seen before it is: preview, change by plan, undo."""

import re
import time

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.browser.conftest import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
TOPIC = "journey.retention"
DAY_MS = 86_400_000
RECORDS_PER_DAY = 40


@pytest.fixture
def topic(product):
    """Six days of records, about a segment for each, and a group that has read one day."""
    admin = AdminClient({**product.client})
    configs = {"segment.bytes": "45000", "retention.ms": str(7 * DAY_MS)}
    admin.create_topics([NewTopic(TOPIC, 2, 3, config=configs)])[TOPIC].result(30)
    producer = Producer({**product.client, "linger.ms": 50})
    now_ms = time.time_ns() // 1_000_000
    for days_ago in (6, 5, 4, 3, 2, 1):
        for _ in range(RECORDS_PER_DAY):
            producer.produce(TOPIC, b"x" * 1_000, partition=0, timestamp=now_ms - days_ago * DAY_MS)
        assert producer.flush(30) == 0
    consumer = Consumer({**product.client, "group.id": "journey.slow"})
    consumer.commit(offsets=[TopicPartition(TOPIC, 0, RECORDS_PER_DAY)], asynchronous=False)
    consumer.close()
    return TOPIC


def test_retention_is_previewed_changed_and_taken_back(page, product, topic, chromium):
    page.goto(f"{product.console}/topics/")
    page.get_by_role("link", name=topic, exact=True).click()
    page.get_by_label("Views of this topic").get_by_role("link", name="Retention").click()
    expect(page.get_by_text("(7 d)").first).to_be_visible()
    expect(page.get_by_text(re.compile("^Nothing: no segment"))).to_be_visible()
    page.get_by_label("retention.ms").fill(str(3 * DAY_MS + DAY_MS // 2))
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("What would be deleted then")).to_be_visible()
    expect(page.locator(".timeline .doomed").first).to_be_attached()
    expect(page.get_by_role("cell", name="journey.slow", exact=True)).to_be_visible()
    address = page.url.removeprefix(product.console)
    take_pictures(chromium, product, "plan", {"retention": address})

    page.get_by_label(re.compile("Type the topic")).fill(topic)
    page.get_by_role("button", name="Change retention").click()
    expect(page.get_by_text(f"Retention of {topic} was changed.")).to_be_visible()
    expect(page.get_by_text("(3.5 d)")).to_be_visible()

    page.get_by_role("link", name="plan the undo").click()
    page.get_by_role("button", name="Change retention").click()
    expect(page.get_by_text("(7 d)").first).to_be_visible()
    take_pictures(chromium, product, "now", {"retention": f"/topics/{TOPIC}/+retention/"})
