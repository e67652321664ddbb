"""A page that has to be loaded again, while its person is on the way elsewhere: our script in Chromium."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
SCRIPT = Path(__file__).parents[2] / "static" / "js" / "reload.js"
ADDRESS = "http://console.invalid/"
PAGE = """<!doctype html><script type="module">
import { reload } from "/reload.js";
window.asked = [];
navigation.addEventListener("navigate", (event) => {
  window.asked.push(event.navigationType);
  event.preventDefault();
});
window.loadAgain = () => { reload(); return window.asked; };
</script>"""


@pytest.fixture
def page(chromium):
    context = chromium.new_context()
    context.route("**/*", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    context.route("**/*.js", lambda route: route.fulfill(body=SCRIPT.read_text(), content_type="text/javascript"))
    page = context.new_page()
    page.clock.install()
    page.goto(ADDRESS)
    yield page
    context.close()


def test_it_is_loaded_at_once_where_nobody_leaves(page):
    assert page.evaluate("window.loadAgain()") == ["reload"]


def test_who_leaves_is_not_called_back_but_who_is_still_here_gets_it(page):
    page.evaluate("dispatchEvent(new Event('beforeunload'))")
    assert page.evaluate("window.loadAgain()") == []
    page.clock.fast_forward(4_000)
    assert page.evaluate("window.asked") == []
    page.clock.fast_forward(1_000)
    assert page.evaluate("window.asked") == ["reload"]
