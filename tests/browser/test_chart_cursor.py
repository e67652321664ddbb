"""One cursor and one range for all charts of a page: our script in Chromium, on two charts of three columns."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
SCRIPTS = Path(__file__).parents[2] / "static" / "js"
ADDRESS = "http://console.invalid/"
COLUMNS = "".join(f'<rect x="{10 * n}" width="10" height="40"><title>{{0}} at {n}</title></rect>' for n in range(3))
CHART = (
    '<figure><svg data-from="1790000000000" data-to="1790000030000" viewBox="0 0 30 40" width="300" height="400">'
    f"{COLUMNS}</svg><p data-readout></p></figure>"
)
PAGE = (
    '<!doctype html><link rel="icon" href="/static/img/favicon.svg"><h1>Charts</h1><div data-range></div>'
    '<div data-charts style="display: flex">'
    + CHART.replace("{0}", "first")
    + CHART.replace("{0}", "second")
    + '</div><script type="module" src="/charts.js"></script>'
)


@pytest.fixture
def page(chromium):
    context = chromium.new_context(timezone_id="Asia/Kathmandu")
    context.route("**/*", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    context.route(
        "**/*.js",
        lambda route: route.fulfill(
            body=(SCRIPTS / urlsplit(route.request.url).path[1:]).read_text(), content_type="text/javascript"
        ),
    )
    page = context.new_page()
    page.goto(f"{ADDRESS}?last=6h&compare=before")
    yield page
    context.close()


def test_every_chart_says_what_was_at_the_moment_under_the_pointer_of_one(page):
    readouts = page.locator("[data-readout]")
    for column, seconds in ((2, 40), (0, 20)):
        page.locator("svg").nth(1).locator("rect").nth(column).hover()
        at = f"2026-09-21 19:58:{seconds} +05:45"
        assert readouts.all_text_contents() == [f"{at} · first at {column}", f"{at} · second at {column}"]
        assert page.locator("rect.under").count() == 2
    page.get_by_role("heading").hover()
    assert readouts.all_text_contents() == ["", ""]
    assert page.locator("rect.under").count() == 0


def test_what_is_dragged_over_becomes_the_range_of_the_page_and_back_undoes_it(page):
    drag(page, 0.8, 0.2)
    page.wait_for_url("**from=*")
    assert parse_qs(urlsplit(page.url).query) == {
        "compare": ["before"],
        "from": ["2026-09-21T14:13:26.000Z"],
        "to": ["2026-09-21T14:13:44.000Z"],
    }
    page.go_back()
    assert page.url == f"{ADDRESS}?last=6h&compare=before"


def test_a_click_and_a_drag_that_is_given_up_change_nothing(page):
    drag(page, 0.5, 0.51)
    drag(page, 0.2, 0.8, release=False)
    assert page.locator("rect.dragged").count() == 2
    page.keyboard.press("Escape")
    page.mouse.up()
    assert page.locator("rect.dragged").count() == 0
    assert page.url == f"{ADDRESS}?last=6h&compare=before"


def drag(page, begins, ends, *, release=True):
    """From one share of the first chart's width to another."""
    box = page.locator("svg").first.bounding_box()
    for share in (begins, ends):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 20)
        if share == begins:
            page.mouse.down()
    if release:
        page.mouse.up()
