"""The console below a path of a proxy, in Chromium: every link, file, request and websocket goes through the proxy."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.barnabas_cluster import await_true
from tests.browser.conftest import PASSWORD
from tests.reverse_proxy import ReverseProxy
from tests.zookeeper_server import free_ports

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]
ROOT = Path(__file__).parents[2]
PREFIX = "/tools/kafka"
PAGES = ("", "topics/", "brokers/", "consumers/", "placement/", "history/", "users/", "audit/", "processes/")
MAKE_WORLD = """
from django.contrib.auth.models import User
from console.topics.models import Partition, Topic
User.objects.create_superuser("admin", password=%r)
topic = Topic.objects.create(name="orders", partition_count=1, replication_factor=1)
Partition.objects.create(topic=topic, partition=0, leader=1, replicas=[1], isr=[1], first_offset=0, next_offset=5)
"""


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """The web process alone, with an empty cluster: (its port, the file it writes to)."""
    directory = tmp_path_factory.mktemp("proxied")
    (port,) = free_ports(1)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("BARNABAS_", "DJANGO_"))}
    environment |= {
        "BARNABAS_DATA": str(directory / "data"),
        "BARNABAS_REDIS_URL": "memory://",
        "BARNABAS_PATH_PREFIX": PREFIX,
        "BARNABAS_TRUSTED_PROXY": "127.0.0.1",
        "BARNABAS_BOOTSTRAP_SERVERS": "127.0.0.1:1",
        "DJANGO_SETTINGS_MODULE": "console.settings",
    }
    for arguments in (["migrate", "--verbosity=0"], ["shell", "--verbosity=0", "-c", MAKE_WORLD % PASSWORD]):
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True, timeout=90)
    output = directory / "web.log"
    command = [sys.executable, "-m", "uvicorn", "console.asgi:application", f"--port={port}", "--no-proxy-headers"]
    with output.open("w") as log:
        web = subprocess.Popen(
            [*command, "--lifespan=off"], cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        await_true(lambda: "Uvicorn running" in output.read_text(), "the web process answers", 60)
        yield port
    finally:
        web.terminate()
        web.wait(10)


@pytest.fixture(params=[True, False], ids=["prefix taken off", "prefix left on"])
def outside(request, console):
    """The console's address as people know it."""
    with ReverseProxy(console, PREFIX, strips=request.param) as proxy:
        yield f"http://127.0.0.1:{proxy.port}{PREFIX}/"


@pytest.fixture
def page(chromium, outside):
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(outside)
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Overview").wait_for()
    yield page
    context.close()


def test_every_page_is_whole_and_live_below_the_path(page, outside):
    asked: list[tuple[str, int]] = []
    sockets: list[str] = []
    page.on("response", lambda response: asked.append((response.url, response.status)))
    page.on("websocket", lambda websocket: sockets.append(websocket.url))
    for path in PAGES:
        page.goto(outside + path)
        page.locator("#connection[data-state=live]").wait_for(timeout=10_000)
        assert page.locator(".sidebar nav a[aria-current=page]").count() == 1, path
    assert {(url, status) for url, status in asked if status >= 400 or not url.startswith(outside)} == set()
    assert sockets
    assert all(urlsplit(url).path == f"{PREFIX}/ws/live/" for url in sockets)


def test_every_link_and_form_stays_below_the_path(page, outside):
    for path in (*PAGES, "topics/orders/", "topics/+create/", "users/+create/", "password/"):
        page.goto(outside + path)
        found = page.evaluate(
            "[...document.querySelectorAll('a[href], form, link[href], script[src], [hx-get], [hx-post]')].map("
            "e => e.href || e.src || e.action || e.getAttribute('hx-get') || e.getAttribute('hx-post'))"
        )
        inside = [each if each.startswith("http") else outside.removesuffix(f"{PREFIX}/") + each for each in found]
        assert [each for each in inside if not each.startswith(outside)] == [], path


def test_searching_by_htmx_and_the_records_socket_go_through_the_proxy(page, outside):
    sockets: list[str] = []
    page.on("websocket", lambda websocket: sockets.append(websocket.url))
    page.goto(outside + "topics/")
    page.get_by_label("Search topics").fill("ord")
    page.wait_for_url("**search=ord**")
    assert page.get_by_role("link", name="orders", exact=True).is_visible()
    page.goto(outside + "topics/orders/+records/")
    page.get_by_role("button", name="Follow live").click()
    await_true(lambda: page.wait_for_timeout(50) or any("/ws/records/" in url for url in sockets), "a socket", 10)
    assert all(urlsplit(url).path.startswith(f"{PREFIX}/ws/") for url in sockets)


def test_logging_out_and_in_again_stays_below_the_path(page, outside):
    cookies = {each["name"]: each["path"] for each in page.context.cookies()}
    assert cookies == {"barnabas_session": f"{PREFIX}/", "barnabas_csrf": f"{PREFIX}/"}
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(lambda url: url.startswith(f"{outside}login/"))
    page.goto(outside + "topics/")
    assert page.url == f"{outside}login/?next={PREFIX}/topics/"
