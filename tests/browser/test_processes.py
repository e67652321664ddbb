"""Processes as an operator meets them: one dies and comes back, one is added and removed, one is killed by plan."""

import os
import re
import signal

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import from_menu, take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(280)]


def go(page, product, path: str) -> None:
    page.goto(product.console + path)
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


#: What the page says for a second only may come and go between two looks of `expect`.
NOTE_ALL_SENTENCES = """() => {
    window.said = [];
    const note = () => window.said.push(document.querySelector(".state-sentence")?.textContent ?? "");
    new MutationObserver(note).observe(document.body, {childList: true, characterData: true, subtree: true});
}"""


def has_said(page, words: str) -> bool:
    return page.evaluate("words => window.said.some(each => each.includes(words))", words)


def pid_of(page):
    return page.locator("[data-cell=pid]")


def test_a_process_that_dies_is_started_again_and_the_page_says_why(page, product, chromium):
    go(page, product, "/processes/connect/")
    expect(page.locator("[data-cell=state]")).to_have_text("healthy")
    before = pid_of(page).inner_text()
    page.evaluate(NOTE_ALL_SENTENCES)
    os.kill(int(before), signal.SIGKILL)
    await_true(lambda: has_said(page, "killed by signal 9 (SIGKILL)"), "the page says why")
    expect(pid_of(page)).not_to_have_text(re.compile(f"^({before}|–)$"))
    expect(page.locator("[data-cell=state]")).to_have_text("healthy")
    expect(page.locator("main")).to_contain_text("died 1 time within 10 minutes")
    take_pictures(chromium, product, "page", {"processes": "/processes/", "process": "/processes/broker-1/"})


@pytest.mark.long
def test_a_process_that_is_never_restarted_stays_dead_until_somebody_starts_it(page, product):
    go(page, product, "/processes/connect/")
    page.get_by_role("button", name="Turn auto-restart off").click()
    expect(page.get_by_text("Auto-restart: off")).to_be_visible()
    os.kill(int(pid_of(page).inner_text()), signal.SIGKILL)
    expect(page.locator("[data-cell=state]")).to_have_text("exited")
    expect(page.locator("main")).to_contain_text("auto-restart is off")
    page.get_by_role("button", name="Turn auto-restart on").click()
    expect(page.locator("[data-cell=state]")).to_have_text("healthy")


@pytest.mark.long
def test_a_broker_is_added_by_plan_and_removed_again(page, product, chromium):
    go(page, product, "/processes/")
    page.get_by_role("link", name="Add a broker…").click()
    expect(page.get_by_label("Broker id")).to_have_value("4")
    page.get_by_label("Rack").fill("east")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#plan")).to_contain_text("broker.rack")
    take_pictures(chromium, product, "form", {"add-broker": "/processes/+add-broker/"})
    page.get_by_role("button", name="Add broker").click()
    expect(page.get_by_role("heading", name="broker-4")).to_be_visible()
    expect(page.locator("[data-cell=state]")).to_have_text("registered")
    expect(page.locator("main")).to_contain_text("it is registered in ZooKeeper")
    paths = {"process-registered": "/processes/broker-4/", "kill": "/processes/broker-4/kill"}
    paths |= {"remove": "/processes/broker-4/remove", "remove-refused": "/processes/broker-1/remove"}
    take_pictures(chromium, product, "page", paths)
    from_menu(page, "Remove process…")
    page.get_by_label("Type the name to confirm").fill("broker-4")
    page.get_by_role("button", name="Remove broker-4").click()
    expect(page.locator("#process-broker-4")).to_have_count(0)
    go(page, product, "/processes/+add-broker/")
    expect(page.get_by_role("link", name="Add it again…")).to_be_visible()


def is_created(admin: AdminClient, topic: NewTopic) -> bool:
    error = admin.create_topics([topic])[topic.topic].exception(30)
    return error is None or error.args[0].name() == "TOPIC_ALREADY_EXISTS"


def has_left(admin: AdminClient, broker_id: int, topic: str) -> bool:
    partitions = admin.list_topics(topic, timeout=10).topics[topic].partitions.values()
    return all(broker_id not in partition.replicas and len(partition.replicas) == 2 for partition in partitions)


@pytest.mark.long
def test_a_broker_that_holds_replicas_is_drained_before_it_goes(page, product, chromium):
    go(page, product, "/processes/+add-broker/")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Add broker").click()
    expect(page.locator("[data-cell=state]")).to_have_text("registered")
    admin = AdminClient({**product.client})
    on_the_fourth = NewTopic("journey.leaving", 2, replica_assignment=[[4, 1], [2, 4]])
    await_true(lambda: is_created(admin, on_the_fourth), "the controller knows broker 4 and makes the topic")
    expect(page.locator("[data-cell=state]")).to_have_text("healthy")
    from_menu(page, "Remove process…")
    expect(page.locator("#plan")).to_contain_text("It holds 2 replicas (journey.leaving-0, journey.leaving-1).")
    expect(page.get_by_role("button", name="Remove broker-4", disabled=False)).to_have_count(0)
    page.get_by_role("link", name="Drain and remove…").click()
    expect(page.locator("#plan")).to_contain_text("journey.leaving-0")
    take_pictures(chromium, product, "plan", {"decommission": "/processes/+decommission/broker-4/"})
    page.get_by_label("Type the name to confirm").fill("broker-4")
    page.get_by_role("button", name="Drain and remove").click()
    expect(page.locator("[data-cell=decommission]")).to_have_text(re.compile("draining|stopping|done"))
    take_pictures(chromium, product, "under-way", {"processes": "/processes/"})
    go(page, product, "/processes/")
    expect(page.locator("#process-broker-4")).to_have_count(0)
    await_true(lambda: has_left(admin, 4, "journey.leaving"), "every broker knows that broker 4 holds nothing")
    go(page, product, "/")
    expect(page.get_by_text("Healthy", exact=True)).to_be_visible()


def test_a_process_is_killed_by_plan_and_stays_stopped(page, product):
    go(page, product, "/processes/connect/kill")
    page.get_by_label("Type the name to confirm").fill("connect")
    page.get_by_role("button", name="Kill connect").click()
    expect(page.locator("[data-cell=state]")).to_have_text("stopped")
    expect(page.locator("main")).to_contain_text("killed, as asked")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("[data-cell=state]")).to_have_text("healthy")
