"""What happened, and who did it: history after a broker was stopped, and an audit that was tampered with."""

import re
import sqlite3

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import screenshot, take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(280)]


@pytest.mark.long
def test_a_stopped_broker_is_found_in_the_history(page, product, chromium):
    history = page.context.new_page()
    history.goto(f"{product.console}/history/")
    page.goto(f"{product.console}/processes/")
    row = page.locator("#process-broker-3")
    row.get_by_role("button", name="Stop…").click()
    page.get_by_role("button", name="Stop broker-3").click()
    expect(row).to_have_attribute("data-state", "stopped")
    expect(history.get_by_text("Broker 3 left the cluster")).to_be_visible()
    expect(history.get_by_text("broker-3 is stopped")).to_be_visible()
    row.get_by_role("button", name="Start", exact=True).click()
    expect(row).to_have_attribute("data-state", "running")
    expect(history.get_by_text("Broker 3 registered again")).to_be_visible()
    history.get_by_label("Kind of change").select_option("broker")
    history.get_by_role("button", name="Show", exact=True).click()
    expect(history.get_by_text("Broker 3 left the cluster")).to_be_visible()
    expect(history.get_by_text("broker-3 is stopped")).to_have_count(0)
    history.close()
    page.goto(f"{product.console}/")
    expect(page.get_by_text(re.compile("[Bb]roker[ -]3 ")).first).to_be_visible()
    expect(page.get_by_text("Healthy", exact=True)).to_be_visible()
    pages = {"history": "/history/", "overview": "/", "topics": "/topics/?internal=on", "audit": "/audit/"}
    pages["topic-history"] = "/topics/documents.lines/+history/"
    pages["settings"] = "/topics/documents.lines/+settings/"
    pages["setting-plan"] = "/topics/documents.lines/+settings/?setting=segment.ms&value=60000"
    take_pictures(chromium, product, "page", pages)


@pytest.mark.long
def test_a_row_changed_in_the_database_is_named_by_verification(page, product, chromium):
    page.goto(f"{product.console}/processes/connect/")
    for state in ("off", "on"):  # two rows at least
        page.get_by_role("button", name=f"Turn auto-restart {state}").click()
        expect(page.get_by_text(f"Auto-restart: {state}")).to_be_visible()
    page.goto(f"{product.console}/audit/")
    page.get_by_role("link", name="Verify the chain").click()
    expect(page.get_by_text("none is missing and none was put in")).to_be_visible()
    with sqlite3.connect(product.data / "console.sqlite3", timeout=20) as database:
        row, name = database.execute(
            "SELECT id, actor_name FROM audit_auditevent ORDER BY id LIMIT 1 OFFSET 1"
        ).fetchone()
        database.execute("UPDATE audit_auditevent SET actor_name = 'mallory' WHERE id = ?", (row,))
    database.close()
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text(f"Row {row} is not as it was written.")
    expect(page.locator("#verdict")).to_contain_text("mallory")
    take_pictures(chromium, product, "broken", {"audit-verify": "/audit/+verify/"})
    with sqlite3.connect(product.data / "console.sqlite3", timeout=20) as database:
        database.execute("UPDATE audit_auditevent SET actor_name = ? WHERE id = ?", (name, row))
    database.close()
    page.reload()
    expect(page.get_by_text("none is missing and none was put in")).to_be_visible()
    screenshot(page, "audit-whole")
