"""What is pushed while the page is being fetched again is newer than what comes back: it stands in the end."""

import re

import pytest
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import DEADLINE_MS, log_in
from tests.browser.web_process import web_process

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
WORLD = """
from console.state.clusters.models import Broker
from console.state.clusters.models import Partition, Topic
Broker.objects.create(broker_id=1, host="127.0.0.1", port=9092)
topic = Topic.objects.create(name="orders", partition_count=1, replication_factor=1)
Partition.objects.create(topic=topic, partition=0, leader=1, replicas=[1], isr=[1], next_offset=5)
"""
NEWER = """row => {
  const newer = row.cloneNode(true);
  newer.querySelector("[data-cell=records]").textContent = "4711";
  newer.setAttribute("hx-swap-oob", "true");
  return newer.outerHTML;
}"""
NOTE = """() => {
  window.noted = [];
  for (const name of ["htmx:wsBeforeMessage", "regions:replaced"])
    document.addEventListener(name, () => window.noted.push(name));
}"""


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    with web_process(tmp_path_factory.mktemp("hold"), WORLD) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def page(chromium, console):
    context = chromium.new_context()
    context.set_default_timeout(DEADLINE_MS)
    page = context.new_page()
    log_in(page, console)
    yield page
    context.close()


@pytest.mark.long
def test_a_push_that_comes_before_an_older_page_stands_after_it(page, console):
    sockets, fetched = [], []
    page.route_web_socket(re.compile("page=topics"), lambda socket: sockets.append(socket))
    page.route(
        "**/topics/", lambda route: fetched.append((route, route.fetch())) if is_fetch(route) else route.fallback()
    )
    page.goto(f"{console}/topics/")
    await_true(lambda: page.evaluate("true") and sockets and fetched, "the page is fetched again as it is live")
    page.evaluate(NOTE)

    row = page.locator("tr[data-row]")
    sockets[0].send(row.evaluate(NEWER))
    await_noted(page, "htmx:wsBeforeMessage")
    route, older = fetched[0]
    route.fulfill(response=older)
    await_noted(page, "regions:replaced")
    expect(row.locator("[data-cell=records]")).to_have_text("4711")


def await_noted(page, name: str) -> None:
    await_true(lambda: page.evaluate("name => window.noted.includes(name)", name), f"{name} has happened")


def is_fetch(route) -> bool:
    return route.request.resource_type == "fetch"
