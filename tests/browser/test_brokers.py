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
    expect(page.get_by_role("heading", name=re.compile(rf"^Broker {broker_id}( controller)?$"))).to_be_visible()
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def change(page, product, value: str) -> None:
    page.goto(f"{product.console}/brokers/1/settings/?search={SETTING}")
    page.get_by_role("link", name="Change…").click()
    page.get_by_label("New value").fill(value)
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("As a command").click()
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


def test_a_phone_has_five_entries_in_a_bar_and_the_others_behind_more(page, product):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{product.console}/brokers/")
    entries = page.get_by_label("Pages", exact=True)
    expect(entries.get_by_role("link")).to_have_count(5)
    expect(entries.locator("[aria-current]")).to_contain_text("Brokers")
    entries.get_by_role("button", name="More").click()
    entries.get_by_role("link", name="Activity").click()
    page.get_by_label("Pages beside this one").get_by_role("link", name="Audit").click()
    box = page.locator(".entry-tabs [aria-current]").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    expect(entries.get_by_role("link")).to_have_count(5)


def test_the_theme_that_a_person_chose_is_on_every_page_before_any_script(page, product):
    page.goto(f"{product.console}/brokers/")
    page.locator(".account summary").click()
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    assert 'data-theme="dark"' in page.request.get(f"{product.console}/topics/").text()
    page.get_by_role("button", name="Theme: dark").click()
    assert ' data-theme="' not in page.request.get(f"{product.console}/topics/").text()


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
