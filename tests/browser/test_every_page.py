"""Every page there is, taken from the routes, as a keyboard, a screen reader and a phone meet it."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import DEADLINE_MS, screenshot
from tests.console.kit.access.test_every_address import CHANGES, CLOSED, FOR_OPERATORS, address_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
#: Not pages: parts that a page fetches, and what only takes a post.
PARTS = {"process-log", "process-question", "process-no-question", "connector-details", "find"}
PARTS |= {"topic-records-histogram", "topic-records-export-count", "topic-clients"}
#: Files, whatever asks for them.
FILES = {"declaration-export", "topic-records-export"}
PAGES = [name for name in CLOSED if name not in PARTS | FILES and (name not in CHANGES or name in FOR_OPERATORS)]
PAGES += ["user", "user-create", "user-password", "user-logins", "own-password"]
PAGES += ["connector-create", "connector-configure", "connector-delete"]
PAGES += ["acl-file", "cluster-add", "healing-proposal", "healing-rule"]
PAGES += ["credential-create", "credential-password", "credential-delete"]

PHONE, DESK = (390, "light"), (1280, "dark")
ALL_LOOKS = [(width, theme) for width in (390, 1440) for theme in ("light", "dark")]
#: Tiles and charts, a list, an object, a form.
SLICE = ["overview", "topics", "topic", "topic-create"]
LISTS = ["topics", "consumers", "brokers", "retention", "connectors"]
#: What WCAG 2.2 at level AA asks for, contrast included; what axe recommends besides is not held here.
_WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
#: The script that makes them reachable has run.
EXPLAINED = "!document.querySelector('button:disabled[title]')"
LOOK = """() => {
  const wrong = [], all = (selector) => [...document.querySelectorAll(selector)];
  const shown = (e) => e.getClientRects().length > 0;
  const told = (e) => e.outerHTML.slice(0, 160);
  const textOf = (e) => (e.getAttribute("aria-label") || e.innerText || e.textContent || "").trim()
    || [...e.querySelectorAll("img[alt]")].map((i) => i.alt).join("");
  all("input:not([type=hidden]), select, textarea").forEach((e) => {
    const labels = [...(e.labels || [])].map((label) => label.textContent.trim()).join("");
    const name = e.getAttribute("aria-label") || e.title || labels;
    if (!name) wrong.push("no name: " + told(e));
  });
  all("button, a[href], [role=button], summary").forEach((e) => { if (!textOf(e)) wrong.push("no text: " + told(e)); });
  all("button:disabled, [aria-disabled=true]").forEach((e) => { if (!e.title) wrong.push("no reason: " + told(e)); });
  all("[aria-disabled=true]").forEach((e) => { if (e.tabIndex < 0) wrong.push("out of reach: " + told(e)); });
  all("img:not([alt])").forEach((e) => wrong.push("no alt: " + told(e)));
  all("svg[role=img]:not([aria-label])").forEach((e) => wrong.push("no label: " + told(e)));
  all("[tabindex]").forEach((e) => { if (e.tabIndex > 0) wrong.push("own focus order: " + told(e)); });
  const ids = all("[id]").map((e) => e.id);
  ids.filter((id, at) => ids.indexOf(id) !== at).forEach((id) => wrong.push("id twice: " + id));
  all("[aria-describedby], [aria-labelledby]").forEach((e) => {
    const named = ["aria-describedby", "aria-labelledby"].map((each) => e.getAttribute(each) || "").join(" ");
    for (const id of named.trim().split(" "))
      if (!document.getElementById(id)) wrong.push("points nowhere: " + told(e));
  });
  const levels = all("h1, h2, h3, h4").filter(shown).map((e) => Number(e.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) wrong.push("h1: " + levels.join(" "));
  levels.forEach((level, at) => { if (at && level > levels[at - 1] + 1) wrong.push("left out: " + levels.join(" ")); });
  if (document.documentElement.lang !== "en" || all("main").length !== 1 || !document.title) wrong.push("no frame");
  for (const region of ["#connection", "#connection-banner", "#collector-banner"])
    if (document.querySelector(region)?.getAttribute("role") !== "status") wrong.push("does not speak: " + region);
  const focusable = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
  all(focusable).filter(shown).forEach((e) => {
    e.focus({ focusVisible: true });
    const style = getComputedStyle(e);
    if (document.activeElement === e && (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2))
      wrong.push("focus not seen: " + told(e));
  });
  const wider = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wider > 0) wrong.push(`wider than the window by ${wider} px`);
  return wrong;
}"""


#: Tables that are wider than their panel.
SIDEWAYS = """() => [...document.querySelectorAll("main .scroll")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => `${e.firstElementChild.className}: ${e.scrollWidth} > ${e.clientWidth}`)"""
#: A row as it is pushed: drawn anew, so that nothing in it is checked.
PUSHED = """(id) => {
  const row = document.getElementById(id), newer = row.cloneNode(true);
  newer.querySelectorAll("input").forEach((box) => { box.checked = false; box.removeAttribute("checked"); });
  row.replaceWith(newer);
  document.dispatchEvent(new CustomEvent("htmx:wsAfterMessage"));
}"""
NEWER = """(row, text) => {
  const newer = row.cloneNode(true);
  newer.querySelector("[data-cell=records]").textContent = text;
  newer.setAttribute("hx-swap-oob", "true");
  return newer.outerHTML;
}"""
NOTE = """() => {
  window.noted = [];
  for (const name of ["htmx:wsBeforeMessage", "regions:replaced"])
    document.addEventListener(name, () => window.noted.push(name));
}"""


@pytest.fixture(params=[PHONE, DESK], ids=["phone", "desk"])
def page(request, chromium, session):
    context = chromium.new_context(storage_state=session)
    context.set_default_timeout(DEADLINE_MS)
    page = context.new_page()
    turn_into(page, request.param)
    yield page
    context.close()


def turn_into(page, look: tuple[int, str]) -> None:
    width, theme = look
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)


@pytest.mark.long
@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["opened on a phone"])
def test_every_page_can_be_read_and_used_by_everybody(page, console):
    """Each is opened once, and looked at as a phone and as a desk show it."""
    problems = {}
    for name in PAGES:
        turn_into(page, PHONE)
        page.goto(console + address_of(name))
        page.wait_for_function(EXPLAINED)
        for look in (PHONE, DESK):
            turn_into(page, look)
            screenshot(page, f"every-{name}-{look[0]}", full_page=True)
            if wrong := page.evaluate(LOOK):
                problems[name, *look] = wrong
    assert problems == {}


@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["opened on a phone"])
@pytest.mark.parametrize(
    "names", [SLICE, pytest.param(PAGES, marks=[pytest.mark.long, pytest.mark.timeout(1_800)])], ids=["some", "every"]
)
def test_axe_finds_nothing_serious_on_a_page(page, console, names):
    """In both themes and at both widths."""
    problems = {}
    for name in names:
        page.goto(console + address_of(name))
        page.wait_for_function(EXPLAINED)
        for look in ALL_LOOKS:
            turn_into(page, look)
            if wrong := _serious(page):
                problems[name, *look] = wrong
    assert problems == {}


def _serious(page) -> list[str]:
    """Return what axe calls serious or critical: the rule, the element, and how the two colours differ if they do."""
    violations = Axe().run(page, options=_WCAG).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:160]} {node['failureSummary'].splitlines()[1].strip()[:200]}"
        for violation in violations
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("page", [DESK], indirect=True, ids=["desk"])
@pytest.mark.parametrize("names", [LISTS, pytest.param(PAGES, marks=pytest.mark.long)], ids=["some", "every"])
def test_no_table_needs_to_be_scrolled_sideways_on_a_desk(page, console, names):
    """In a window of 1440 pixels, of which a scroll bar takes 15."""
    page.set_viewport_size({"width": 1_425, "height": 900})
    problems = {}
    for name in names:
        page.goto(console + address_of(name))
        if wider := page.evaluate(SIDEWAYS):
            problems[name] = wider
    assert problems == {}


def test_a_form_that_was_refused_says_beside_the_field_what_is_wrong(page, console):
    page.goto(f"{console}/users/+create/")
    page.get_by_label("User name").fill("somebody")
    page.get_by_role("button", name="Preview").click()
    field = page.get_by_label("User name")
    page.get_by_role("alert").wait_for()
    described = field.get_attribute("aria-describedby")
    assert "There is an account of this name" in page.locator(f"#{described.split()[-1]}").inner_text()
    assert page.evaluate(LOOK) == []


def test_a_disabled_button_is_reached_by_keyboard_and_shows_why(page, console):
    page.goto(f"{console}/processes/broker-1/")
    page.locator("#connection[data-state=live]").wait_for()
    page.wait_for_function(EXPLAINED)
    stop = page.locator("[data-action=stop]").first
    # Its row may be replaced at any moment: focused again then, as a person would.
    shown = "e => { e.focus({ focusVisible: true }); return getComputedStyle(e, '::after').content }"
    await_true(lambda: "does not run" in stop.evaluate(shown), "the reason is shown beside the button", 30)
    stop.press("Enter")
    assert page.get_by_role("alertdialog").count() == 0


@pytest.mark.parametrize("page", [DESK], indirect=True, ids=["desk"])
def test_a_paused_page_stands_still_and_is_fetched_anew_when_it_goes_on(page, console):
    sockets = []
    page.route_web_socket(re.compile("page=topics"), lambda socket: sockets.append(socket))
    page.goto(f"{console}/topics/")
    page.locator("#connection[data-state=live]").wait_for()
    await_true(lambda: page.evaluate("true") and sockets, "the page has its websocket")
    records = page.locator("tr[data-row] [data-cell=records]").last
    page.get_by_role("button", name="Pause").click()
    assert "What you see is as of" in page.locator("#pause-banner").inner_text()
    page.evaluate(NOTE)

    push_records(page, sockets[0], "4711")
    await_true(lambda: page.evaluate("window.noted.includes('htmx:wsBeforeMessage')"), "the push has come")
    assert records.inner_text() == "0"
    page.locator("#pause-banner").get_by_role("button", name="Go on").click()
    await_true(lambda: page.evaluate("window.noted.includes('regions:replaced')"), "the page was fetched anew")
    assert not page.locator("#pause-banner").is_visible()
    push_records(page, sockets[0], "4712")
    expect(records).to_have_text("4712")


@pytest.mark.parametrize("page", [DESK], indirect=True, ids=["desk"])
def test_a_refresh_that_was_asked_before_a_search_does_not_undo_it(page, console):
    held = []

    def hold_the_first(route):
        if held or "x-refresh" not in route.request.headers:
            route.continue_()
        else:
            held.append(route)

    page.goto(f"{console}/topics/")
    page.locator("#connection[data-state=live]").wait_for()
    page.route(re.compile("/topics/"), hold_the_first)
    page.get_by_role("button", name="Pause").click()
    page.locator("#pause-banner").get_by_role("button", name="Go on").click()
    await_true(lambda: page.evaluate("true") and held, "the page is fetched anew")
    page.get_by_label("Search topics").fill("orders")
    page.wait_for_url(re.compile("search=orders"))
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.evaluate(NOTE)
    held[0].continue_()
    await_true(lambda: page.evaluate("window.noted.includes('regions:replaced')"), "a page was taken")
    expect(page.locator("tr[data-row]")).to_have_count(1)


def push_records(page, socket, text: str) -> None:
    """Of the last topic, as the console would push its row."""
    row = page.locator("tr[data-row]").last
    socket.send(row.evaluate(NEWER, text))


@pytest.mark.parametrize("page", [DESK], indirect=True, ids=["desk"])
def test_a_list_is_arranged_kept_by_name_and_opened_again_by_a_few_keys(page, console):
    page.goto(f"{console}/topics/")
    size = page.locator("#topic-table").get_by_role("columnheader", name="Size")
    expect(size).to_be_visible()

    page.get_by_text("Columns and views").click()
    screenshot(page, "views-panel")
    page.get_by_label("Size", exact=True).uncheck()
    page.get_by_label("Rows on a page").select_option("25")
    page.get_by_role("button", name="Apply").click()
    expect(size).to_be_hidden()
    expect(page.locator("td[data-cell=size]").first).to_be_hidden()

    page.get_by_role("columnheader", name="Topic").get_by_role("link").click()
    page.wait_for_url(re.compile("sort=-name"))
    page.get_by_label("Search topics").fill("orders")
    page.wait_for_url(re.compile("search=orders"))
    expect(page.locator("tr[data-row]")).to_have_count(1)
    assert "sort=-name" in page.url
    page.get_by_text("Columns and views").click()
    page.get_by_label("Keep this list as").fill("Orders first")
    page.get_by_role("button", name="Save view").click()
    expect(page.locator(".arrange > summary")).to_have_text("Orders first")

    page.goto(f"{console}/topics/")
    expect(page.locator("tr[data-row]")).to_have_count(2)
    assert "sort=-name" in page.url, "it comes back in its order"
    page.keyboard.press("Control+k")
    page.keyboard.type("orders first")
    expect(page.locator("#palette-found [aria-selected=true]")).to_contain_text("Orders first")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("view="))
    expect(page.locator("tr[data-row]")).to_have_count(1)
    expect(page.locator("td[data-cell=size]").first).to_be_hidden()
    screenshot(page, "views-opened")
    page.locator(".arrange > summary").click()
    page.get_by_role("button", name="Reset").click()
    page.goto(f"{console}/topics/")
    expect(size).to_be_visible()


@pytest.mark.parametrize("page", [DESK], indirect=True, ids=["desk"])
def test_lines_are_closer_on_every_page_for_who_wants_it(page, console):
    page.goto(f"{console}/topics/")
    height = "document.querySelector('tr[data-row]').getBoundingClientRect().height"  # rows may be replaced meanwhile
    before = page.evaluate(height)
    page.locator(".account summary").click()
    page.get_by_role("button", name="Density: comfortable").click()
    expect(page.locator("html")).to_have_attribute("data-density", "compact")
    assert page.evaluate(height) < before * 0.85
    screenshot(page, "views-compact")
    page.goto(f"{console}/")
    expect(page.locator("html")).to_have_attribute("data-density", "compact")
    page.locator(".account summary").click()
    page.get_by_role("button", name="Density: compact").click()
    expect(page.locator("html")).not_to_have_attribute("data-density", "compact")


def test_selected_rows_stay_selected_and_go_to_the_plan(page, console):
    page.goto(f"{console}/topics/")
    bar = page.locator("#bulk")
    expect(bar).to_be_hidden()
    page.get_by_label("Select orders").focus()
    page.keyboard.press("Space")
    expect(bar).to_be_in_viewport()
    expect(bar).to_contain_text("1 selected")

    row = page.locator("tr", has=page.get_by_label("Select orders")).get_attribute("id")
    page.evaluate(PUSHED, row)
    expect(page.get_by_label("Select orders")).to_be_checked()

    page.get_by_label("Select all topics of this page").check()
    expect(bar).to_contain_text("2 selected")
    page.get_by_role("button", name="Clear selection").click()
    expect(bar).to_be_hidden()
    page.get_by_label("Select orders").check()
    page.get_by_role("button", name="Change a setting…").click()
    page.wait_for_url(re.compile(r"/topics/\+many/\?topic=orders$"))
    expect(page.get_by_label("orders", exact=True)).to_be_checked()


def test_the_menu_of_a_header_opens_and_closes_by_keyboard(page, console):
    page.goto(f"{console}/topics/orders/")
    menu = page.locator("#object-menu")
    menu.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(menu.get_by_role("link", name="Delete topic…")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(menu.get_by_role("link", name="Delete topic…")).to_be_hidden()
