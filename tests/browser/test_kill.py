"""A broker dies by kill -9 while somebody looks: leaders move, the ISR shrinks, and both come back, without reload."""

import os
import re
import signal

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import take_pictures

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(300)]
TOPIC = "journey.kill"


@pytest.fixture
def topic(product):
    """Three partitions, each led by its first replica."""
    admin = AdminClient({**product.client})
    topic = NewTopic(TOPIC, 3, replica_assignment=[[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    admin.create_topics([topic])[TOPIC].result(30)

    def is_led() -> bool:
        partitions = admin.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions.values()
        return [partition.leader for partition in partitions] == [1, 2, 3]

    await_true(is_led, "every partition is led by its first replica")
    return TOPIC


@pytest.fixture
def pages(chromium, product, page):
    """The overview and the topic page, open side by side; each remembers that it was never loaded again."""
    beside = page.context.new_page()
    yield page, beside
    beside.close()


def open_live(page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    page.evaluate("window.stillTheSamePage = true")


def kill_broker(page, product, broker_id: int) -> None:
    """For longer than the console would leave it dead: it is told not to start it again."""
    page.goto(f"{product.console}/processes/broker-{broker_id}/")
    page.get_by_role("button", name="Turn auto-restart off").click()
    expect(page.get_by_text("Auto-restart: off")).to_be_visible()
    page.goto(f"{product.console}/processes/")
    row = page.locator(f"#process-broker-{broker_id}")
    expect(row).to_have_attribute("data-state", "running")
    os.kill(int(row.locator("[data-cell=pid]").inner_text()), signal.SIGKILL)


def start_broker(page, product, broker_id: int) -> None:
    page.goto(f"{product.console}/processes/")
    row = page.locator(f"#process-broker-{broker_id}")
    expect(row).to_have_attribute("data-state", "exited")
    row.get_by_role("button", name="Start", exact=True).click()
    page.goto(f"{product.console}/processes/broker-{broker_id}/")
    page.get_by_role("button", name="Turn auto-restart on").click()


def cell(page, region: str, name: str):
    return page.locator(f"{region} [data-cell={name}]")


def test_a_kill_is_seen_live_on_the_overview_and_on_the_topic_page(pages, product, topic, chromium):
    overview, topic_page = pages
    operations = overview.context.new_page()
    open_live(overview, f"{product.console}/")
    expect(cell(overview, "#tiles", "urp")).to_have_text("0")
    topic_page.goto(f"{product.console}/topics/")
    topic_page.get_by_role("link", name=topic, exact=True).wait_for()
    open_live(topic_page, f"{product.console}/topics/{topic}/")
    led = topic_page.locator("#partition-1")
    expect(led.locator("[data-cell=leader]")).to_have_text(re.compile(r"2\s+preferred"))
    expect(cell(overview, "#broker-strip", "leads-2")).to_have_text(re.compile(r"^[1-9]"))

    kill_broker(operations, product, 2)

    expect(cell(overview, "#tiles", "urp")).not_to_have_text("0")
    expect(cell(overview, "#broker-strip", "leads-2")).to_have_text("0")
    expect(overview.locator("#health")).to_contain_text("Broker 2 is not registered")
    expect(overview.get_by_role("link", name="Start broker 2")).to_be_visible()
    expect(overview.locator("#troubled-partitions")).to_contain_text("2 of 3 in sync")
    expect(led.locator("[data-cell=leader]")).to_have_text(re.compile(r"[13]\s+not preferred"))
    for partition in range(3):
        row = topic_page.locator(f"#partition-{partition}")
        expect(row.locator("[data-cell=isr]")).to_have_text("2 of 3 in sync")
        expect(row.locator(".replica.is-out")).to_have_text("2 out")
    shown = {"overview": "/", "topic": f"/topics/{TOPIC}/", "placement": "/placement/"}
    take_pictures(chromium, product, "killed", shown)

    start_broker(operations, product, 2)

    expect(cell(overview, "#tiles", "urp")).to_have_text("0")
    expect(overview.get_by_text("Healthy", exact=True)).to_be_visible()
    for partition in range(3):
        expect(cell(topic_page, f"#partition-{partition}", "isr")).to_have_text("all in sync")
    elect_preferred_leaders(operations, product, chromium)
    expect(led.locator("[data-cell=leader]")).to_have_text(re.compile(r"2\s+preferred"))
    for item in (overview, topic_page):
        assert item.evaluate("window.stillTheSamePage") is True
    operations.close()


def elect_preferred_leaders(page, product, chromium) -> None:
    page.goto(f"{product.console}/placement/")
    page.get_by_role("link", name="Elect preferred leaders…").click()
    expect(page.get_by_text(f"{TOPIC}-1", exact=True)).to_be_visible()
    take_pictures(chromium, product, "before", {"placement": "/placement/", "elect": "/placement/+elect/"})
    page.get_by_role("button", name=re.compile("^Elect")).click()
    expect(page.locator(".banner.success")).to_contain_text("led by the preferred replica")
    expect(page.get_by_text("Every partition is led by its first replica.")).to_be_visible()
