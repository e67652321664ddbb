"""Times in the reader's own zone, or in UTC by choice: our scripts in Chromium, on a page that a server drew."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from console.kit.common.figures import moment, moment_minute, moment_ms, short_moment
from console.kit.common.zones import ZoneMiddleware

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
SCRIPTS = Path(__file__).parents[2] / "static" / "js"
ADDRESS = "http://console.invalid/"
TIME = '<time datetime="2026-09-21T14:13:20.123Z" data-form="{}">{}</time>'
PAGE = (
    '<!doctype html><html{zone}><link rel="icon" href="/static/img/favicon.svg"><h1>'
    + TIME.format("s", "{drawn}")
    + "</h1><h2>"
    + TIME.format("ms", "{drawn}")
    + '</h2><form><input data-moment="at" aria-label="At"><input type="hidden" name="at" value="{at}">'
    '<button>Show</button></form><button type="button" data-zone-toggle></button>'
    '<script type="module" src="/moments.js"></script>'
)


@pytest.fixture
def opened(chromium):
    """A function that opens the page as the server draws it, in a browser that is in Berlin."""
    context = chromium.new_context(timezone_id="Europe/Berlin")

    def open_page(zone="", drawn="2026-09-21 14:13:20 UTC", at=""):
        body = PAGE.format(zone=zone and f' data-zone="{zone}"', drawn=drawn, at=at)
        context.route("**/*", lambda route: route.fulfill(body=body, content_type="text/html"))
        context.route(
            "**/*.js",
            lambda route: route.fulfill(
                body=(SCRIPTS / urlsplit(route.request.url).path[1:]).read_text(), content_type="text/javascript"
            ),
        )
        page = context.new_page()
        page.goto(ADDRESS)
        return page

    yield open_page
    context.close()


def zone_kept(page):
    return next((cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "barnabas_zone"), None)


def test_the_first_page_of_a_browser_is_written_in_its_zone_which_the_server_is_told(opened):
    page = opened()
    assert page.locator("time").all_text_contents() == ["2026-09-21 16:13:20 +02:00", "2026-09-21 16:13:20.123 +02:00"]
    assert zone_kept(page) == "Europe/Berlin"


def test_a_page_that_the_server_drew_in_the_right_zone_is_left_as_it_is(opened):
    page = opened("Europe/Berlin", "as it was drawn")
    assert page.locator("time").first.text_content() == "as it was drawn"
    page.locator("time").first.hover()
    assert page.locator("time").first.get_attribute("title") == "2026-09-21T14:13:20.123Z"


def test_a_traveller_s_page_is_written_anew(opened):
    page = opened("Asia/Tokyo", "2026-09-21 23:13:20 +09:00")
    assert page.locator("time").first.text_content() == "2026-09-21 16:13:20 +02:00"
    assert zone_kept(page) == "Europe/Berlin"


def test_utc_is_a_choice_that_is_kept_and_taken_back(opened):
    page = opened(at="2026-09-21T14:13:20.000Z")
    assert page.get_by_label("At").input_value() == "2026-09-21 16:13:20"
    page.get_by_role("button", name="Times: local (Europe/Berlin)").click()
    assert page.locator("time").first.text_content() == "2026-09-21 14:13:20 UTC"
    assert page.get_by_label("At").input_value() == "2026-09-21 14:13:20"
    assert zone_kept(page) == "utc"
    page.get_by_role("button", name="Times: UTC").click()
    assert zone_kept(page) == "Europe/Berlin"


@pytest.mark.parametrize(
    ("written", "travels"),
    [
        ("2026-09-21 16:13", "2026-09-21T14:13:00.000Z"),
        ("2026-09-21T16:13:20.5", "2026-09-21T14:13:20.500Z"),
        ("2026-09-21 14:13:20 UTC", "2026-09-21T14:13:20.000Z"),
        ("2026-09-21 23:13:20 +09:00", "2026-09-21T14:13:20.000Z"),
        ("2026-12-21", "2026-12-20T23:00:00.000Z"),
        ("now-10m", None),
        ("", ""),
    ],
)
def test_what_a_person_writes_travels_with_its_zone(opened, written, travels):
    page = opened("Europe/Berlin")
    page.get_by_label("At").fill(written)
    value = page.locator("input[name=at]").input_value()
    assert (
        value == travels
        if travels is not None
        else page.evaluate(f"Math.abs(Date.now() - 6e5 - Date.parse('{value}')) < 6e4")
    )


def test_what_is_no_time_is_not_sent_and_says_what_to_write(opened):
    page = opened("Europe/Berlin")
    page.get_by_label("At").fill("09/21/2026")
    page.get_by_role("button", name="Show").click()
    assert page.url == ADDRESS
    assert page.evaluate("document.querySelector('[data-moment]').validationMessage") == (
        "Write a time as 2026-11-28 14:05, or as now-10m."
    )


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/St_Johns", "Africa/Monrovia", "utc"])
def test_the_script_writes_a_time_as_the_server_does(chromium, rf, zone):
    """Else each push would change what a page says of the same instant."""
    instants = list(range(0, 4_000_000_000_000, 86_399_123_457))
    request = rf.get("/")
    request.COOKIES["barnabas_zone"] = zone
    forms = {"s": moment, "ms": moment_ms, "min": moment_minute, "short": short_moment}

    def drawn(_):
        return "".join(f"<p>{draw(instant)}</p>" for draw in forms.values() for instant in instants if instant)

    page_of_server = ZoneMiddleware(drawn)(request)
    context = chromium.new_context(timezone_id="Etc/UTC" if zone == "utc" else zone)
    page = context.new_page()
    page.route("**/*", lambda route: route.fulfill(body=page_of_server, content_type="text/html; charset=utf-8"))
    page.route(
        "**/*.js",
        lambda route: route.fulfill(
            body=(SCRIPTS / urlsplit(route.request.url).path[1:]).read_text(), content_type="text/javascript"
        ),
    )
    page.goto(ADDRESS)
    wrong = page.evaluate(
        """async () => {
          document.head.innerHTML = '<link rel="icon" href="/static/img/favicon.svg">';
          const { writeTime } = await import("/times.js");
          const times = [...document.querySelectorAll("time")];
          const both = times.map((time) => [time.textContent, writeTime(Date.parse(time.dateTime), time.dataset.form)]);
          return [times.length, both.filter(([server, script]) => server !== script)];
        }"""
    )
    context.close()
    assert wrong == [4 * (len(instants) - 1), []]


def test_a_part_that_the_server_draws_in_another_zone_is_drawn_again_and_no_time_stays_as_it_is(opened):
    page = opened()
    page.evaluate(
        """() => {
          const drawn = '<time datetime="2026-09-21T14:13:20Z" data-form="s">14:13 UTC</time>';
          document.querySelector("h1").innerHTML = drawn;
          document.querySelector("h2").innerHTML = '<time datetime="never" data-form="s">never</time>';
          document.dispatchEvent(new CustomEvent("regions:replaced"));
        }"""
    )
    assert page.locator("time").all_text_contents() == ["2026-09-21 16:13:20 +02:00", "never"]


def test_a_wrong_time_in_a_closed_menu_opens_the_menu(opened):
    page = opened()
    page.get_by_label("At").fill("yesterday")
    page.evaluate(
        """() => {
          const menu = document.createElement("details");
          document.forms[0].prepend(menu);
          menu.append(document.querySelector("[data-moment]"));
        }"""
    )
    page.get_by_role("button", name="Show").click()
    assert page.locator("details").get_attribute("open") is not None
