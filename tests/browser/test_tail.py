"""The live tail of the messages tab on its own: our script in Chromium, and a console that drops its websocket."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
STATIC = Path(__file__).parents[2] / "static"
ADDRESS = "http://console.invalid/"
PAGE = """<!doctype html><body data-root="/">
<form class="record-filters"><input type="hidden" name="last"><select name="limit"><option>25</option></select>
  <button type="button" data-follow>Follow live</button></form>
<div id="records-live" data-topic="orders" data-mode="" hidden><span data-state></span><span data-status></span>
  <button type="button" data-pause>Pause</button><button type="button" data-stop>Stop</button>
  <span data-offers></span></div>
<table><tbody id="record-rows"></tbody></table>
<script type="module" src="/static/js/records.js"></script>"""


@pytest.fixture
def sockets() -> list:
    """Those that were opened, in their order."""
    return []


@pytest.fixture
def page(chromium, sockets):
    context = chromium.new_context()

    def answer(route) -> None:
        path = route.request.url.removeprefix(ADDRESS)
        if path.startswith("static/"):
            file = STATIC / path.removeprefix("static/")
            route.fulfill(body=file.read_text(), content_type="text/javascript")
        else:
            route.fulfill(body=PAGE, content_type="text/html")

    context.route("**/*", answer)
    context.route_web_socket(re.compile("/ws/records/"), lambda socket: sockets.append(socket))
    page = context.new_page()
    page.clock.install()
    page.goto(ADDRESS)
    page.get_by_role("button", name="Follow live").click()
    expect(page.get_by_text("Looking for the place to begin…")).to_be_visible()
    yield page
    context.close()


def await_sockets(page, sockets: list, count: int) -> None:
    for _ in range(600):
        if len(sockets) >= count:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{len(sockets)} websockets were opened, not {count}")


def test_a_tail_that_dropped_comes_back_by_itself_where_it_was(page, sockets):
    await_sockets(page, sockets, 1)
    sockets[0].send('{"began": "yes", "cursor": "0:7"}')
    sockets[0].send('{"rows": "<tr><td>first</td></tr>", "status": "", "ended": "", "cursor": "0:8"}')
    expect(page.get_by_role("cell", name="first")).to_be_visible()

    sockets[0].close(code=1012)
    expect(page.get_by_text("The connection dropped; trying again in 1 s.")).to_be_visible()
    page.clock.fast_forward(1_500)
    await_sockets(page, sockets, 2)
    assert "cursor=0%3A8" in sockets[1].url
    sockets[1].send('{"began": "yes", "cursor": "0:8"}')
    sockets[1].send('{"rows": "<tr><td>second</td></tr>", "status": "", "ended": "", "cursor": "0:9"}')

    expect(page.get_by_role("cell", name="second")).to_be_visible()
    expect(page.get_by_role("cell", name="first")).to_be_visible()
    expect(page.get_by_text("Following:")).to_be_visible()


def test_a_tail_that_was_refused_or_stopped_does_not_come_back(page, sockets):
    await_sockets(page, sockets, 1)
    sockets[0].close(code=4403)
    expect(page.get_by_text("You have no right to read this topic.")).to_be_visible()
    page.clock.fast_forward(60_000)

    page.get_by_role("button", name="Follow live").click()
    await_sockets(page, sockets, 2)
    sockets[1].close(code=1012)
    page.get_by_role("button", name="Stop").click()
    page.clock.fast_forward(60_000)
    page.wait_for_timeout(200)
    assert len(sockets) == 2
    expect(page.get_by_text("Stopped by you.")).to_be_visible()
