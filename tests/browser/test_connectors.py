"""A file source by the form: made, seen to run while another tab looks on, paused, changed, restarted, deleted."""

import pytest
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import DEADLINE_MS, WIDER, every_look, from_menu, screenshot, session_of
from tests.browser.small_cluster import ID_VARIABLE
from tests.browser.web_process import collecting, web_process
from tests.console.ecosystem.connectors.one_worker import running_worker

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(600)]
SOURCE = "FileStreamSourceConnector"


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """Web process and collector beside a worker."""
    directory = tmp_path_factory.mktemp("connectors")
    with running_worker(directory) as worker:
        address = f"http://127.0.0.1:{worker.port}"
        named = {"DJANGO_SETTINGS_MODULE": "tests.browser.settings", "BARNABAS_CONNECT": address}
        named[ID_VARIABLE] = worker.ask("GET", "/")["kafka_cluster_id"]
        with web_process(directory, "", **named) as port, collecting(directory, **named):
            yield f"http://127.0.0.1:{port}"


@pytest.fixture
def pages(chromium, console):
    """Two tabs of one person."""
    context = chromium.new_context(storage_state=session_of(chromium, console))
    context.set_default_timeout(DEADLINE_MS)
    yield context.new_page(), context.new_page()
    context.close()


def looked_at(page, name: str) -> None:
    for theme, width in every_look(page):
        screenshot(page, f"{name}-{width}-{theme}", full_page=True)
        assert page.evaluate(WIDER) <= 0, (name, theme, width)
    page.set_viewport_size({"width": 1280, "height": 900})


def opened(page, address: str) -> None:
    page.goto(address)
    page.locator("#connection[data-state=live]").wait_for()


def shows(page, what: str) -> None:
    def is_shown() -> bool:
        page.reload()
        return what in page.locator("#object-figures").inner_text()

    await_true(is_shown, f"the page shows {what}", 60)


def confirmed(page, button: str) -> None:
    expect(page.locator("#plan")).to_be_visible()
    page.locator("#plan").get_by_role("button", name=button, exact=True).click()
    page.get_by_role("heading", name="Configuration").wait_for()


def test_a_file_source_from_its_form_to_its_deletion(pages, console, tmp_path):
    page, onlooker = pages
    (tmp_path / "lines.txt").write_text("a line\nanother\n")
    opened(onlooker, f"{console}/connectors/")
    looked_at(onlooker, "connectors-none")
    opened(page, f"{console}/connectors/")
    page.get_by_role("link", name="Create connector…").click()
    looked_at(page, "connector-choose")
    page.get_by_role("link", name=SOURCE).click()
    page.get_by_label("name", exact=True).or_(page.get_by_label("Name", exact=True)).first.fill("lines")
    page.get_by_label("file", exact=True).fill(str(tmp_path / "lines.txt"))
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".is-wrong").first).to_contain_text("topic")
    looked_at(page, "connector-form-wrong")
    page.get_by_label("topic", exact=True).fill("lines")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#plan")).to_contain_text("Connect starts it at once.")
    looked_at(page, "connector-plan")
    page.get_by_role("button", name="Create connector").click()
    expect(page.locator("h1")).to_contain_text("lines")
    expect(onlooker.locator("tbody").first).to_contain_text("lines")

    expect(page.locator("#connector-details")).to_contain_text("position")
    shows(page, "1 of 1")
    looked_at(page, "connector")
    from_menu(page, "Pause…")
    confirmed(page, "Pause")
    shows(page, "paused")
    from_menu(page, "Configure…")
    looked_at(page, "connector-configure")
    page.get_by_label("topic", exact=True).fill("elsewhere")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#plan")).to_contain_text("elsewhere")
    page.get_by_role("button", name="Configure", exact=True).click()
    expect(page.locator("#connector-config")).to_contain_text("elsewhere")
    expect(page.locator("#connector-undo")).to_contain_text("configure connector")
    opened(page, f"{console}/connectors/lines/+do/resume/")
    page.get_by_role("button", name="Resume", exact=True).click()
    page.get_by_role("heading", name="Configuration").wait_for()
    shows(page, "1 of 1")
    opened(page, f"{console}/connectors/lines/+do/restart-all/")
    page.get_by_role("button", name="Restart all of it").click()
    page.get_by_role("heading", name="Configuration").wait_for()
    opened(page, f"{console}/connectors/lines/+offsets/")
    looked_at(page, "connector-offsets")

    opened(page, f"{console}/connectors/lines/+delete/")
    looked_at(page, "connector-delete")
    page.get_by_label("Type the name to confirm").fill("lines")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("h1")).to_have_text("Connectors")
    expect(page.get_by_role("link", name="Create it again…")).to_be_visible()
    looked_at(page, "connectors-deleted")
    expect(onlooker.locator("#connector-table")).not_to_contain_text("FileStreamSource")
