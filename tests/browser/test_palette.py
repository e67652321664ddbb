"""From anywhere to anything by the keyboard: typed, chosen, opened."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_a_few_keys_lead_from_anywhere_to_a_page_an_object_or_an_action(page, product):
    page.goto(f"{product.console}/history/")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Find a page, an object or an action")
    line = palette.get_by_role("combobox", name="Find")
    expect(line).to_be_focused()
    expect(palette.get_by_role("option", name="Overview go to")).to_have_attribute("aria-selected", "true")

    line.press_sequentially("ret")
    expect(palette.get_by_role("option", name="Retention go to")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/retention/$"))

    page.get_by_role("button", name="Find").click()
    line.fill("topic create")
    expect(palette.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Create topic")).to_be_visible()

    page.keyboard.press("Control+k")
    line.fill("no such <thing>")
    expect(palette.get_by_text("Nothing is called “no such <thing>”.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()


def test_arrows_go_round_what_is_found(page, product):
    page.goto(f"{product.console}/")
    page.keyboard.press("Control+k")
    options = page.locator("#palette [role=option]")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(page.locator("#palette input")).to_have_attribute("aria-activedescendant", "found-1")


def test_keys_without_a_modifier_search_the_list_and_show_the_keys(page, product):
    page.goto(f"{product.console}/topics/")
    page.keyboard.press("/")
    search = page.locator("main").get_by_role("searchbox").first
    expect(search).to_be_focused()
    page.keyboard.type("what?/")
    expect(search).to_have_value("what?/")
    expect(page.locator("#keys")).to_be_hidden()

    page.goto(f"{product.console}/zookeeper/")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#palette")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#palette input")).to_be_focused()


def test_a_verb_and_an_object_open_the_plan(page, product):
    page.goto(f"{product.console}/")
    page.keyboard.press("Control+k")
    page.locator("#palette input").fill("restart broker 2")
    expect(page.get_by_role("option", name="Restart broker-2 do")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/processes/broker-2/restart$"))
