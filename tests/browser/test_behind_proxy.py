"""The console below a path of a proxy, in Chromium: every link, file, request and websocket goes through the proxy."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import DEADLINE_MS, log_in, session_of
from tests.browser.web_process import web_process
from tests.reverse_proxy import ReverseProxy

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]
PREFIX = "/tools/kafka"
PAGES = ("", "topics/", "brokers/", "consumers/", "placement/", "history/", "users/", "audit/", "processes/")
WORLD = """
from console.state.clusters.models import Partition, Topic
topic = Topic.objects.create(name="orders", partition_count=1, replication_factor=1)
Partition.objects.create(topic=topic, partition=0, leader=1, replicas=[1], isr=[1], first_offset=0, next_offset=5)
"""


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """Its port."""
    variables = {"BARNABAS_PATH_PREFIX": PREFIX, "BARNABAS_TRUSTED_PROXY": "127.0.0.1"}
    variables["DJANGO_SETTINGS_MODULE"] = "tests.browser.settings"
    with web_process(tmp_path_factory.mktemp("proxied"), WORLD, **variables) as port:
        yield port


@pytest.fixture(
    scope="module",
    params=[True, pytest.param(False, marks=pytest.mark.long)],
    ids=["prefix taken off", "prefix left on"],
)
def outside(request, console):
    """The console's address as people know it."""
    with ReverseProxy(console, PREFIX, strips=request.param) as proxy:
        yield f"http://127.0.0.1:{proxy.port}{PREFIX}/"


@pytest.fixture(scope="module")
def session(chromium, outside):
    return session_of(chromium, outside)


@pytest.fixture
def page(chromium, session):
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, storage_state=session)
    context.set_default_timeout(DEADLINE_MS)
    yield context.new_page()
    context.close()


def test_every_page_is_whole_and_live_below_the_path(page, outside):
    requests: list[tuple[str, int]] = []
    sockets: list[str] = []
    page.on("response", lambda response: requests.append((response.url, response.status)))
    page.on("websocket", lambda websocket: sockets.append(websocket.url))
    for path in PAGES:
        page.goto(outside + path)
        page.locator("#connection[data-state=live]").wait_for()
        assert page.locator(".sidebar nav a[aria-current], .account nav a[aria-current]").count() == 1, path
    assert {(url, status) for url, status in requests if status >= 400 or not url.startswith(outside)} == set()
    assert sockets
    assert all(urlsplit(url).path == f"{PREFIX}/ws/live/" for url in sockets)


@pytest.mark.long
def test_every_link_and_form_stays_below_the_path(page, outside):
    for path in (*PAGES, "topics/orders/", "topics/+create/", "users/+create/", "password/"):
        page.goto(outside + path)
        addresses = page.evaluate(
            "[...document.querySelectorAll('a[href], form, link[href], script[src], [hx-get], [hx-post]')].map("
            "e => e.href || e.src || e.action || e.getAttribute('hx-get') || e.getAttribute('hx-post'))"
        )
        inside = [item if item.startswith("http") else outside.removesuffix(f"{PREFIX}/") + item for item in addresses]
        assert [item for item in inside if not item.startswith(outside)] == [], path


@pytest.mark.long
def test_searching_by_htmx_and_the_records_socket_go_through_the_proxy(page, outside):
    sockets: list[str] = []
    page.on("websocket", lambda websocket: sockets.append(websocket.url))
    page.goto(outside + "topics/")
    page.get_by_label("Search topics").fill("ord")
    page.wait_for_url("**search=ord**")
    expect(page.get_by_role("link", name="orders", exact=True)).to_be_visible()
    page.goto(outside + "topics/orders/+records/")
    page.get_by_role("button", name="Follow live").click()
    await_true(lambda: page.wait_for_timeout(50) or any("/ws/records/" in url for url in sockets), "a socket", 10)
    assert all(urlsplit(url).path.startswith(f"{PREFIX}/ws/") for url in sockets)


def test_logging_out_and_in_again_stays_below_the_path(page, outside):
    page.context.clear_cookies()  # the session that ends here is no other test's
    log_in(page, outside)
    cookies = {cookie["name"]: cookie["path"] for cookie in page.context.cookies()}
    assert cookies == {f"barnabas_{name}": f"{PREFIX}/" for name in ("session", "csrf", "browser", "zone")}
    page.locator(".account summary").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(lambda url: url.startswith(f"{outside}login/"))
    page.goto(outside + "topics/")
    assert page.url == f"{outside}login/?next={PREFIX}/topics/"
