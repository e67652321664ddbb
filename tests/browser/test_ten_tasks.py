"""What an operator is asked most: ten tasks from the overview, done with the mouse and counted in clicks.

Keys are not counted. A task has the clicks that it takes once its answer stands where one looks for it, plus one.
"""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import DEADLINE_MS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


class Operator:
    """Clicks on what a person sees, and counts."""

    def __init__(self, page: Page):
        self.page = page
        self.clicks = 0

    def click(self, place: Locator) -> None:
        place.first.click()
        self.clicks += 1

    def follow(self, name: str | re.Pattern[str], within: str = "body") -> None:
        self.click(self.page.locator(within).get_by_role("link", name=name, exact=isinstance(name, str)))

    def press(self, name: str | re.Pattern[str], within: str = "main") -> None:
        self.click(self.page.locator(within).get_by_role("button", name=name))

    def take(self, action: str) -> None:
        """Open the menu of an object's header, and take an action there: two clicks."""
        self.click(self.page.locator("#object-menu summary"))
        self.follow(action, "#object-menu")

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def key(self, name: str) -> None:
        self.page.keyboard.press(name)

    def open_orders(self) -> None:
        self.follow("orders", "#busiest-topics")

    def open_slow_group(self) -> None:
        """By the reason of the cluster's health that names it."""
        reason = self.page.locator("#health li", has_text="slow-export")
        self.click(reason.get_by_role("link"))

    def sees(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.locator("main")).to_contain_text(text)


@pytest.fixture
def operator(chromium, console, session):
    context = chromium.new_context(
        storage_state=session, viewport={"width": 1440, "height": 900}, accept_downloads=True
    )
    context.set_default_timeout(DEADLINE_MS)
    page = context.new_page()
    page.goto(f"{console}/")
    yield Operator(page)
    context.close()


@pytest.mark.long
def test_why_a_group_is_behind_takes_two_clicks_at_most(operator):
    operator.open_slow_group()
    operator.sees("It reads 25 records/s while 150 records/s arrive: 1 member for 1 partition.")
    assert operator.clicks <= 2


def test_which_topic_grew_most_today_takes_two_clicks_at_most(operator):
    operator.follow("Topics")
    operator.follow("+24 h")
    grown = operator.page.locator("#topic-table [data-cell=growth]")
    expect(operator.page).to_have_url(re.compile("sort=-growth"))
    expect(grown.first).to_have_text("+7\u202fMB")
    assert operator.clicks <= 2


@pytest.mark.long
def test_who_produces_to_a_topic_takes_two_clicks_at_most(operator):
    operator.open_orders()
    operator.follow("Producers")
    operator.sees("shop-web")
    operator.sees("User:shop")
    operator.sees("10.0.0.7")
    assert operator.clicks <= 2


def test_a_group_is_put_back_by_ten_minutes_in_four_clicks_at_most(operator):
    operator.open_slow_group()
    operator.follow("Reset offsets…")
    operator.follow("10 min ago")
    operator.sees("read a second time")
    operator.press(re.compile("^Reset 1 offset"))
    operator.sees("Offsets of slow-export were reset.")
    assert operator.clicks <= 4


@pytest.mark.long
def test_the_records_of_a_key_take_two_clicks_at_most(operator):
    operator.open_orders()
    operator.click(operator.page.get_by_label("Find messages by key"))
    operator.type("a-key")
    operator.key("Enter")
    expect(operator.page.locator("#record-rows tr[id]")).to_have_count(5)
    assert operator.clicks <= 2


def test_whether_a_broker_may_restart_takes_two_clicks_at_most(operator):
    operator.follow("Brokers", "nav")
    cell = operator.page.locator("[data-cell=restart-2]")
    expect(cell).to_have_text("unknown")
    expect(cell.locator("[title]")).to_have_attribute("title", re.compile("has not read the cluster of late"))
    assert operator.clicks <= 2


@pytest.mark.long
def test_what_lets_a_principal_write_takes_two_clicks_at_most(operator):
    operator.click(operator.page.get_by_role("button", name="Find"))
    operator.type("alice")
    rules = operator.page.get_by_role("option", name=re.compile("ACL"))
    expect(rules.first).to_be_visible()
    operator.click(rules)
    operator.sees("User:alice")
    operator.sees("Read")
    assert operator.clicks <= 2


@pytest.mark.long
def test_what_changed_before_an_hour_takes_two_clicks_at_most(operator):
    operator.follow("Activity", "nav")
    operator.click(operator.page.locator("main .range summary"))
    operator.key("Tab")
    operator.key("Tab")
    operator.type("2026-06-01 00:00")
    operator.key("Enter")
    expect(operator.page).to_have_url(re.compile("to=2026-0"))
    operator.sees("orders-0 has no leader")
    assert operator.clicks <= 2


@pytest.mark.long
def test_a_topic_like_another_with_twice_the_partitions_takes_five_clicks_at_most(operator):
    operator.open_orders()
    operator.take("Clone…")
    expect(operator.page.get_by_label("Name")).to_be_focused()
    operator.type("orders-2")
    operator.key("Tab")
    operator.key("Control+a")
    operator.type("2")
    operator.key("Enter")
    operator.press("Create topic")
    operator.sees("orders-2")
    assert operator.clicks <= 5


@pytest.mark.long
def test_the_last_five_minutes_as_json_take_four_clicks_at_most(operator, console):
    page = operator.page
    page.add_init_script("delete window.showSaveFilePicker")
    page.goto(f"{console}/topics/orders/+records/#produce")
    page.get_by_label("Value", exact=True).fill('{"number": 5}')
    page.get_by_role("button", name="Produce", exact=True).click()
    page.get_by_text("Appended to partition").first.wait_for()
    page.goto(f"{console}/")

    operator.open_orders()
    operator.take("Export messages…")
    operator.sees(re.compile(r"\d+ records at most"))
    with page.expect_download() as download:
        operator.press("Export", "#export")
    lines = download.value.path().read_text().splitlines()
    assert json.loads(lines[-1])["value"]["number"] == 5
    assert operator.clicks <= 4
