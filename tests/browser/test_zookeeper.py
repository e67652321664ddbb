"""ZooKeeper in the browser: its members live, a topic's znode, an ensemble that grows and shrinks under the cluster."""

import os
import re
import signal

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.browser.conftest import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
TOPIC = "journey.znodes"
#: Two servers start, copy all data and become members, on a machine that does other things too.
CHANGED_MS = 120_000


def make_topic(product, name: str) -> None:
    admin = AdminClient({**product.client})
    admin.create_topics([NewTopic(name, 1, replication_factor=3)], request_timeout=60)[name].result(60)


@pytest.mark.long
def test_a_topic_is_found_among_the_znodes_and_leads_back_to_its_page(page, product, chromium):
    make_topic(product, TOPIC)
    page.goto(f"{product.console}/zookeeper/")
    expect(page.locator("[data-member]")).to_have_count(1)
    expect(page.locator("[data-member]")).to_contain_text("leader")
    page.get_by_role("link", name="Browse znodes").click()
    for name in ("brokers", "topics", TOPIC):
        page.get_by_role("link", name=name, exact=True).click()
    expect(page.locator("[data-form=json]")).to_contain_text('"topic_id"')
    page.get_by_role("link", name="partitions", exact=True).click()
    page.get_by_role("link", name="0", exact=True).click()
    page.get_by_role("link", name="state", exact=True).click()
    expect(page.locator("[data-form=json]")).to_contain_text('"leader_epoch": 0')
    assert page.url.endswith(f"path=/brokers/topics/{TOPIC}/partitions/0/state")
    page.get_by_role("link", name="hex", exact=True).click()
    expect(page.locator("[data-form=hex]")).to_contain_text("00000000  7b 22")
    page.get_by_role("link", name=f"topic {TOPIC}").click()
    expect(page.get_by_role("heading", name=TOPIC)).to_be_visible()
    page.goto(f"{product.console}/zookeeper/znodes/?path=/no/such/place")
    expect(page.get_by_text("There is no znode /no/such/place.")).to_be_visible()
    state = f"/zookeeper/znodes/?path=/brokers/topics/{TOPIC}/partitions/0/state"
    pictures = {"znode": state, "znodes": "/zookeeper/znodes/?path=/", "ensemble": "/zookeeper/"}
    take_pictures(chromium, product, "one", pictures | {"grow": "/zookeeper/change/?kind=grow"})


@pytest.mark.long
def test_the_ensemble_grows_loses_its_leader_and_shrinks_while_the_cluster_goes_on(page, product, chromium):
    page.goto(f"{product.console}/zookeeper/")
    page.get_by_role("link", name="Grow…").click()
    expect(page.get_by_text("After: 3 members, 2 needed, 1 may fail.")).to_be_visible()
    page.get_by_role("button", name="Grow the ensemble").click()
    change = page.locator("#ensemble-change")
    expect(change).to_have_attribute("data-state", "done", timeout=CHANGED_MS)
    expect(page.locator("[data-member]")).to_have_count(3)
    expect(page.locator("#zookeeper-members")).to_contain_text("3 of 3 serve, 1 may fail")
    take_pictures(chromium, product, "three", {"ensemble": "/zookeeper/"})
    make_topic(product, f"{TOPIC}.grown")
    kill_leader(page, product)
    make_topic(product, f"{TOPIC}.without-leader")
    page.goto(f"{product.console}/zookeeper/")
    expect(page.locator("#zookeeper-members")).to_contain_text("3 of 3 serve, 1 may fail", timeout=CHANGED_MS)
    shrink(page, product)
    make_topic(product, f"{TOPIC}.shrunk")


def kill_leader(page, product) -> None:
    """By hand, as a machine would lose it."""
    number = page.locator("[data-cell=leader]").inner_text().removeprefix("server ")
    name = "zookeeper" if number == "1" else f"zookeeper-{number}"
    page.goto(f"{product.console}/processes/")
    os.kill(int(page.locator(f"#process-{name} [data-cell=pid]").inner_text()), signal.SIGKILL)


def shrink(page, product) -> None:
    page.get_by_role("link", name="Shrink…").click()
    page.get_by_role("button", name="Shrink the ensemble").click()
    expect(page.locator("#ensemble-change")).to_contain_text(re.compile(r"Servers \d and \d leave"))  # not the leader
    expect(page.locator("#ensemble-change")).to_have_attribute("data-state", "done", timeout=CHANGED_MS)
    expect(page.locator("[data-member]")).to_have_count(1)
    page.goto(f"{product.console}/processes/")
    expect(page.locator("tr[id^=process-zookeeper]")).to_have_count(1)
