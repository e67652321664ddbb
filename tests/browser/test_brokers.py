"""A broker's page: watched live, changed by plan, drift seen on the others, put back."""

import re

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.browser.conftest import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
SETTING = "log.cleaner.backoff.ms"
TOPIC = "journey.requests"


@pytest.fixture
def topic(product):
    """Led by broker 1, from which the others fetch."""
    admin = AdminClient({**product.client})
    admin.create_topics([NewTopic(TOPIC, 1, replica_assignment=[[1, 2, 3]])])[TOPIC].result(30)


def open_broker(page, product, broker_id: int) -> None:
    page.goto(f"{product.console}/brokers/")
    page.locator("#broker-table").get_by_role("link", name=str(broker_id), exact=True).click()
    expect(page.get_by_role("heading", name=f"Broker {broker_id}", exact=True)).to_be_visible()
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def change(page, product, value: str) -> None:
    page.goto(f"{product.console}/brokers/1/settings/?search={SETTING}")
    page.get_by_role("link", name="Change…").click()
    page.get_by_label("New value").fill(value)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("--entity-type brokers --entity-name 1")).to_be_visible()
    page.get_by_role("button", name="Change setting").click()
    expect(page.get_by_text(f"{SETTING} of broker 1 was changed.")).to_be_visible()


def test_requests_appear_on_the_open_page_without_reload(page, product, topic):
    open_broker(page, product, 1)
    expect(page.locator('[data-cell="p99-Fetch"]')).to_have_text(re.compile("ms|µs|s"))
    page.evaluate("window.stillTheSamePage = true")
    counted = page.locator("#broker-requests")
    before = counted.inner_text()
    producer = Producer({**product.client})
    for number in range(30):
        producer.produce(TOPIC, b"{}", str(number))
    assert producer.flush(30) == 0
    expect(counted).not_to_have_text(before)
    assert page.evaluate("window.stillTheSamePage") is True
    expect(page.locator("#broker-log-dirs").get_by_text("online")).to_be_visible()
    expect(page.locator("#broker-process").get_by_role("link", name="broker-1")).to_be_visible()


@pytest.mark.long
def test_a_change_of_one_broker_is_drift_on_the_others_until_it_is_put_back(page, product):
    change(page, product, "16000")
    page.goto(f"{product.console}/brokers/2/settings/?only=drift")
    expect(page.get_by_text("Elsewhere: 16000 on broker 1.")).to_be_visible()
    page.goto(f"{product.console}/brokers/1/settings/?undo={SETTING}&undo_value=default")
    page.get_by_role("link", name="plan the undo…").click()
    page.get_by_role("button", name="Change setting").click()
    expect(page.get_by_text(f"{SETTING} of broker 1 was changed.")).to_be_visible()
    page.goto(f"{product.console}/brokers/2/settings/")
    expect(page.get_by_text("no drift")).to_be_visible()


def test_the_open_page_of_a_narrow_screen_is_in_view_among_the_others(page, product):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{product.console}/audit/")
    link = page.locator(".sidebar nav [aria-current]")
    expect(link).to_have_text("Audit")
    box = link.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@pytest.mark.long
def test_pages_of_brokers_fit_both_widths_in_both_themes(chromium, product):
    paths = {
        "overview": "/",
        "brokers": "/brokers/",
        "broker": "/brokers/1/",
        "broker-partitions": "/brokers/1/partitions/",
        "broker-directories": "/brokers/1/directories/",
        "broker-settings": "/brokers/1/settings/?only=changed",
        "broker-plan": f"/brokers/1/settings/?search=cleaner&setting={SETTING}&value=16000&scope=all",
    }
    take_pictures(chromium, product, "page", paths)
