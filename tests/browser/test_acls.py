"""Access lists in the browser: the matrix, a rule by plan and back, the try-out; another's change appears by itself."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DEADLINE_MS, session_of
from tests.browser.web_process import web_process

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
WORLD = """
from console.state.clusters.models import Topic
for name in ("orders", "orders-eu"):
    Topic.objects.create(name=name, partition_count=1)
"""


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    with web_process(tmp_path_factory.mktemp("acls"), WORLD, DJANGO_SETTINGS_MODULE="tests.browser.settings") as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def windows(chromium, console):
    """Two, of the same person; what the browser complains about fails the test."""
    context = chromium.new_context(storage_state=session_of(chromium, console), viewport={"width": 1280, "height": 800})
    context.set_default_timeout(DEADLINE_MS)
    complaints: list[str] = []
    pages = context.new_page(), context.new_page()
    for page in pages:
        page.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
    yield pages
    context.close()
    assert complaints == []


def _is_complaint(message) -> bool:
    """That a plan is not confirmed is an answer (422); whatever else the browser reports is a fault of the page."""
    return message.type == "error" and "status of 422" not in message.text


def test_a_rule_is_planned_made_seen_by_others_and_taken_back(windows, console):
    page, other = windows
    other.goto(f"{console}/access-lists/?principal=alice&operation=WRITE")
    other.locator("#connection[data-state=live]").wait_for()
    expect(other.get_by_text("No rule connects such a principal")).to_be_visible()

    page.goto(console)
    page.get_by_label("Pages", exact=True).get_by_role("link", name="Access").click()
    expect(page.get_by_role("row", name="User:alice").filter(has_text="allow Read on orders…").first).to_be_visible()
    page.get_by_role("link", name="Create a rule…").click()
    page.get_by_label("Principal").fill("User:alice")
    page.get_by_label("Name", exact=True).fill("orders")
    expect(page.get_by_label("ClusterAction")).to_be_hidden()
    page.get_by_label("Write", exact=True).check()
    page.get_by_role("button", name="Show the plan").click()
    expect(page.locator("#effects")).to_contain_text("gains")
    page.get_by_role("button", name="Create 1 rule").click()
    expect(page.get_by_text("Access lists were changed.")).to_be_visible()
    expect(other.get_by_role("link", name="yes")).to_be_visible()

    other.get_by_role("link", name="yes").click()
    expect(other.locator("#verdict")).to_contain_text("Write is allowed by the rule: ALLOW User:alice Write")
    page.get_by_role("link", name="Plan the undo…").first.click()
    expect(page.locator("#effects")).to_contain_text("loses")
    page.get_by_role("button", name="Delete 1 rule").click()
    expect(page.get_by_text("Access lists were changed.")).to_be_visible()
    expect(other.locator("#verdict")).to_contain_text("Write is denied")


@pytest.mark.long
def test_who_would_lock_out_the_console_is_stopped_until_the_words_are_typed(windows, console):
    page, _ = windows
    page.goto(f"{console}/access-lists/rules/?resource=CLUSTER")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Delete those chosen…").click()
    expect(page.get_by_text("The console itself: User:console loses")).to_be_visible()
    page.get_by_role("button", name="Delete 1 rule").click()
    expect(page.get_by_role("alert")).to_contain_text("type the name exactly, lock out")
    page.get_by_role("link", name="Cancel").click()
    expect(page).to_have_url(re.compile(r"/access-lists/rules/"))
