"""One cursor for all charts of a page: our script in Chromium, on two charts of three columns."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
SCRIPT = Path(__file__).parents[2] / "static" / "js" / "charts.js"
ADDRESS = "http://console.invalid/"
COLUMNS = "".join(f'<rect x="{10 * n}" width="10" height="40"><title>{{0}} at {n}</title></rect>' for n in range(3))
CHART = f'<figure><svg viewBox="0 0 30 40" width="300" height="400">{COLUMNS}</svg><p data-readout></p></figure>'
PAGE = (
    '<!doctype html><h1>Charts</h1><div data-charts style="display: flex">'
    + CHART.replace("{0}", "first")
    + CHART.replace("{0}", "second")
    + '</div><script type="module" src="/charts.js"></script>'
)


@pytest.fixture
def page(chromium):
    context = chromium.new_context()
    context.route("**/*", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    context.route("**/*.js", lambda route: route.fulfill(body=SCRIPT.read_text(), content_type="text/javascript"))
    page = context.new_page()
    page.goto(ADDRESS)
    yield page
    context.close()


def test_every_chart_says_what_was_at_the_moment_under_the_pointer_of_one(page):
    readouts = page.locator("[data-readout]")
    for column in (2, 0):
        page.locator("svg").nth(1).locator("rect").nth(column).hover()
        assert readouts.all_text_contents() == [f"first at {column}", f"second at {column}"]
        assert page.locator("rect.under").count() == 2
    page.get_by_role("heading").hover()
    assert readouts.all_text_contents() == ["", ""]
    assert page.locator("rect.under").count() == 0
