"""What a person does first: look, produce, watch it arrive, stop a broker, start it again."""

import os
import re
import signal

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.browser.conftest import WIDER, every_look, screenshot, signed_in

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
IS_IN_VIEW = """id => {
  const box = document.getElementById(id)?.getBoundingClientRect();
  return box && box.width > 0 && box.left >= 0 && box.right <= window.innerWidth;
}"""


@pytest.fixture
def topic(product):
    name = "journey.orders"
    admin = AdminClient({**product.client})
    created = admin.create_topics([NewTopic(name, 3, 3)])[name]
    if created.exception(30) is not None:
        assert created.exception().args[0].name() == "TOPIC_ALREADY_EXISTS"
    return name


def open_topic(page, product, topic: str) -> None:
    """A topic created a moment ago is on the console when its collector has looked."""
    page.goto(f"{product.console}/topics/")
    page.get_by_role("link", name=topic, exact=True).click()
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def test_an_address_nobody_knows_says_so_once(page, product):
    answers = []
    page.on("response", lambda response: answers.append(response.request.resource_type))
    assert page.goto(f"{product.console}/topics/no.such.topic/").status == 404
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    page.wait_for_timeout(1_000)
    assert answers.count("document") == 1


def produce(product, topic: str, partition: int, count: int) -> None:
    producer = Producer({**product.client})
    for number in range(count):
        producer.produce(topic, f"order {number}", f"key {number}", partition=partition)
    assert producer.flush(30) == 0


def test_the_overview_shows_a_healthy_cluster(page, product):
    page.goto(f"{product.console}/")
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    expect(page.get_by_text("Healthy", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="documents.lines", exact=True)).to_be_visible()
    screenshot(page, "overview-light")


def test_a_produced_record_moves_the_next_offset_without_reload(page, product, topic):
    open_topic(page, product, topic)
    cell = next_offset(page, partition=1)
    expect(cell).to_be_visible()
    before = int(cell.inner_text().replace("\u202f", "").replace(",", ""))
    page.evaluate("window.stillTheSamePage = true")
    produce(product, topic, partition=1, count=42)
    expect(cell).to_have_text(str(before + 42))
    assert page.evaluate("window.stillTheSamePage") is True
    screenshot(page, "topic-light")


def next_offset(page, partition: int):
    column = page.locator("#partition-table th").all_inner_texts().index("Next offset")
    return page.locator("#partition-table tbody tr").nth(partition).locator("td,th").nth(column)


def test_a_broker_is_stopped_and_started_with_the_buttons(page, product, topic):
    page.goto(f"{product.console}/processes/")
    row = page.locator("#process-broker-2")
    expect(row).to_have_attribute("data-state", "running")
    row.get_by_role("button", name="Stop…").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("broker-2")
    screenshot(page, "processes-question")
    for field in page.get_by_label("Type the name to confirm").all():  # some topic has no replica to spare just now
        field.fill("broker-2")
    page.get_by_role("button", name="Stop broker-2").click()
    expect(row).to_have_attribute("data-state", "stopped")
    screenshot(page, "processes-stopped")
    page.goto(f"{product.console}/")
    expect(page.locator("main")).to_contain_text("broker 2 is not registered", ignore_case=True)
    screenshot(page, "overview-broker-stopped")
    page.goto(f"{product.console}/processes/")
    row.get_by_role("button", name="Start", exact=True).click()
    expect(row).to_have_attribute("data-state", "running")
    expect(row.locator("[data-cell=state]")).to_have_class(re.compile("good|ok|running|success"))
    screenshot(page, "processes-started")
    page.goto(f"{product.console}/")
    expect(page.get_by_text("Healthy", exact=True)).to_be_visible()


def test_a_broker_killed_by_hand_comes_back_by_itself_with_its_records(page, product, topic):
    produce(product, topic, partition=0, count=100)
    page.goto(f"{product.console}/processes/")
    row = page.locator("#process-broker-1")
    expect(row).to_have_attribute("data-state", "running")
    pid = row.locator("[data-cell=pid]").inner_text()
    os.kill(int(pid), signal.SIGKILL)
    expect(row.locator("[data-cell=pid]")).not_to_have_text(pid)
    expect(row).to_have_attribute("data-state", "running")
    expect(row.locator("[data-cell=state]")).to_have_text("healthy")
    open_topic(page, product, topic)
    expect(next_offset(page, partition=0)).to_have_text("100")


def test_a_question_is_asked_and_answered_by_keyboard_alone(page, product):
    page.goto(f"{product.console}/processes/")
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    stop = page.locator("#broker-3-stop")
    stop.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    expect(stop).to_be_focused()


def test_a_row_that_is_replaced_keeps_the_focus(page, product):
    page.goto(f"{product.console}/processes/")
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    page.locator("#broker-3-stop").focus()
    row = page.locator("#process-broker-3")
    row.evaluate("row => row.dataset.isOld = ''")
    expect(row).not_to_have_attribute("data-is-old", "")
    expect(page.locator("#broker-3-stop")).to_be_focused()


def test_a_press_that_lasts_while_its_row_changes_is_a_click_all_the_same(page, product, topic):
    beside = page.context.new_page()
    for item in (page, beside):
        item.goto(f"{product.console}/topics/")
        expect(item.locator("#connection")).to_have_attribute("data-state", "live")
    link = page.get_by_role("link", name=topic, exact=True)
    cells = [item.get_by_role("row", name=topic).locator("[data-cell=records]") for item in (page, beside)]
    link.hover()
    page.mouse.down()
    before = cells[0].inner_text()  # what earlier tests wrote may have come until now
    produce(product, topic, partition=2, count=7)
    expect(cells[1]).not_to_have_text(before)
    assert cells[0].inner_text() == before
    page.mouse.up()
    expect(page.get_by_role("heading", name=topic)).to_be_visible()
    beside.close()


def test_what_arrived_during_a_press_is_shown_after_it(page, product, topic):
    beside = page.context.new_page()
    for item in (page, beside):
        open_topic(item, product, topic)
    before = next_offset(page, partition=2).inner_text()
    page.get_by_role("heading", level=1).hover()
    page.mouse.down()
    produce(product, topic, partition=2, count=7)
    expect(next_offset(beside, partition=2)).not_to_have_text(before)
    page.mouse.up()
    expect(next_offset(page, partition=2)).not_to_have_text(before)
    beside.close()


def test_a_process_can_be_stopped_on_a_phone_without_scrolling_sideways(chromium, product):
    context = signed_in(chromium, product, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(f"{product.console}/processes/")
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    # A row is replaced whenever its process changes; what counts is where the buttons come to rest.
    for action in ("start", "stop", "restart"):
        page.wait_for_function(IS_IN_VIEW, arg=f"broker-3-{action}")
    context.close()


def test_the_log_of_a_broker_can_be_read(page, product):
    page.goto(f"{product.console}/processes/broker-3/")
    expect(page.locator("#process-log")).to_contain_text("broker_id=3")
    screenshot(page, "process-log")


def test_every_page_fits_its_window_in_both_themes(page, product, topic):
    open_topic(page, product, topic)
    paths = {
        "overview": "/",
        "brokers": "/brokers/",
        "topics": "/topics/",
        "topic": f"/topics/{topic}/",
        "topic-create": "/topics/+create/",
        "topic-retention": f"/topics/{topic}/+retention/",
        "placement": "/placement/",
        "placement-elect": "/placement/+elect/",
        "processes": "/processes/",
        "process": "/processes/broker-1/",
        "audit": "/audit/",
    }
    for name, path in paths.items():
        response = page.goto(product.console + path)
        assert response.status == 200, path
        expect(page.locator("#connection")).to_have_attribute("data-state", re.compile("live|off"))
        for theme, width in every_look(page):
            screenshot(page, f"{name}-{width}-{theme}")
            assert page.evaluate(WIDER) <= 0, (path, width, theme)
