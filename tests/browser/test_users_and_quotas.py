"""An administrator gives a Kafka user a password and a limit; the list that is open elsewhere follows by itself."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DEADLINE_MS, THEMES, WIDER, WIDTHS, screenshot, session_of
from tests.browser.web_process import web_process

pytestmark = [pytest.mark.browser, pytest.mark.timeout(280)]


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    with web_process(tmp_path_factory.mktemp("users"), "", DJANGO_SETTINGS_MODULE="tests.browser.settings") as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def pages(chromium, console):
    """Two tabs of one person."""
    context = chromium.new_context(storage_state=session_of(chromium, console))
    context.set_default_timeout(DEADLINE_MS)
    yield context.new_page(), context.new_page()
    context.close()


def looked_at(page, name: str) -> None:
    """In both themes and widths; wider than the window it is not."""
    for theme in THEMES:
        for width in WIDTHS:
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 900})
            screenshot(page, f"{name}-{width}-{theme}", full_page=True)
            assert page.evaluate(WIDER) <= 0
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})


def opened(page, address: str) -> None:
    page.goto(address)
    page.locator("#connection[data-state=live]").wait_for()


@pytest.mark.long
def test_a_user_is_made_limited_and_deleted_while_another_tab_looks_on(pages, console):
    page, onlooker = pages
    opened(onlooker, f"{console}/kafka-users/")
    opened(page, f"{console}/kafka-users/+create/")
    page.get_by_label("User", exact=True).fill("payments")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#plan")).to_contain_text("can log in as payments by SCRAM-SHA-256")
    looked_at(page, "kafka-user-plan")
    page.get_by_role("button", name="Create user").click()
    made = page.locator("#made-password").inner_text()
    assert len(made) == 24
    looked_at(page, "kafka-user-once")
    expect(onlooker.locator("tbody")).to_contain_text("payments")
    assert made not in onlooker.content()

    opened(onlooker, f"{console}/quotas/")
    opened(page, f"{console}/quotas/+change/")
    page.get_by_label("User", exact=True).fill("payments")
    page.get_by_label("Producing").fill("1.5 MB")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#plan")).to_contain_text("may use 1.5")
    looked_at(page, "quota-plan")
    page.get_by_role("button", name="Change quotas").click()
    expect(onlooker.locator("tbody")).to_contain_text("user payments")
    looked_at(onlooker, "quotas")

    opened(page, f"{console}/quotas/+try/?user=payments&client_id=app&ip=10.0.0.1")
    expect(page.locator("#verdicts")).to_contain_text("decides")
    looked_at(page, "quota-try")

    opened(page, f"{console}/kafka-users/")
    expect(page.locator("tbody")).to_contain_text("payments")
    looked_at(page, "kafka-users")
    page.get_by_role("link", name="Delete…").first.click()
    expect(page.locator("#plan")).to_contain_text("1 quota that name payments stays")
    looked_at(page, "kafka-user-delete")
    page.get_by_label("Type the name to confirm").fill("payments")
    page.get_by_role("button", name="Delete user").click()
    expect(page.get_by_text("payments cannot log in by SCRAM-SHA-256 any more.")).to_be_visible()
