"""The controller is paused on purpose: once until the time is over, once while worker and holder are killed."""

import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import signed_in, take_pictures

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(600)]
#: A drill of twenty seconds with what is looked at before and waited for after it, on a machine that does other things.
OVER_MS = 300_000


@pytest.fixture
def window(chromium, playground):
    context = signed_in(chromium, playground, viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def processes_of(product, module: str) -> list[psutil.Process]:
    """Of this product: others may run beside it."""
    processes = []
    for item in psutil.process_iter():
        try:
            if module in item.cmdline() and str(product.data) in item.environ().get("BARNABAS_DATA", str(product.data)):
                processes.append(item)
        except psutil.Error:
            continue
    return processes


def begin(page, product, seconds: int, fault: str = "pause") -> psutil.Process:
    """The broker it is done to, as soon as it is."""
    page.goto(f"{product.console}/drills/+begin/")
    page.get_by_label("What", exact=True).select_option(fault)
    page.get_by_label("To whom").select_option("controller")
    page.get_by_label("For, seconds").fill(str(seconds))
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#plan")).to_contain_text("Expected: ")
    name = page.locator("#plan .mono").filter(has_text="broker-").first.inner_text()
    page.get_by_label("Type the name to confirm").fill(name)
    broker = psutil.Process(int(product.manage("shell", "-c", PID.format(name=name)).stdout.split()[-1]))
    page.get_by_role("button", name="Begin the drill").click()
    expect(page.locator("[data-cell=state]")).to_have_text("fault")
    await_true(lambda: not broker.is_running() or broker.status() == psutil.STATUS_STOPPED, f"it is done to {name}")
    return broker


PID = "from console.processes.models import ManagedProcess as M; print(M.objects.get(name='{name}').pid)"


@contextmanager
def reading(product, topic: str, group: str) -> Iterator[None]:
    """Somebody writes to all of it, and somebody reads it, all the time."""
    over = threading.Event()
    producer = Producer({**product.client, "linger.ms": 50})
    consumer = Consumer({**product.client, "group.id": group, "auto.commit.interval.ms": 500})
    consumer.subscribe([topic])

    def go_on() -> None:
        while not over.is_set():
            producer.produce(topic, b"x", partition=-1)
            producer.poll(0)
            consumer.poll(0.05)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        await_true(consumer.assignment, f"{group} reads")
        yield
    finally:
        over.set()
        thread.join()
        consumer.close()
        producer.flush(10)
        admin = AdminClient(product.client)
        admin.delete_consumer_groups([group])[group].result(30)  # its lag would be trouble from now on


def test_a_paused_controller_is_continued_and_the_report_says_that_it_came_as_expected(window, playground, chromium):
    admin = AdminClient(playground.client)
    admin.create_topics([NewTopic("journey.drill", 6, 3)])["journey.drill"].result(30)
    is_well(window, playground)
    with reading(playground, "journey.drill", "journey.drilled"):
        broker = begin(window, playground, 20)
        expect(window.locator("[data-cell=state]")).to_have_text("done", timeout=OVER_MS)
    assert broker.status() != psutil.STATUS_STOPPED
    table = window.locator("#comparison")
    expect(table).to_contain_text("Acknowledged records lost")
    named = re.compile(r"[1-9]\d* (fell behind|rebalanced|with another coordinator|as before)")
    expect(window.locator("#drill-groups")).to_contain_text(named)
    print(table.inner_text(), window.locator("#drill-groups").inner_text())
    address = "/drills/+begin/?fault=pause&whom=controller&seconds=20"
    take_pictures(chromium, playground, "drill", {"report": "/drills/1/", "list": "/drills/", "begin": address})
    expect(window.get_by_text("as expected", exact=True).first).to_be_visible()
    assert table.get_by_text("worse", exact=True).count() == 0


def is_well(page, product) -> None:
    page.goto(f"{product.console}/")
    expect(page.get_by_text("Healthy", exact=True)).to_be_visible()


@pytest.mark.parametrize("fault", ["kill", "slow"])
def test_a_broker_that_is_killed_or_slow_is_as_before_when_it_is_over(fault, window, playground):
    is_well(window, playground)
    broker = begin(window, playground, 15, fault)
    expect(window.locator("[data-cell=state]")).to_have_text("done", timeout=OVER_MS)
    assert fault == "kill" or broker.status() != psutil.STATUS_STOPPED
    expect(window.locator("#comparison")).to_contain_text("Acknowledged records lost")
    is_well(window, playground)


def test_worker_and_holder_are_killed_and_the_broker_goes_on(window, playground, chromium):
    broker = begin(window, playground, 60)
    take_pictures(chromium, playground, "drill", {"live": window.url.removeprefix(playground.console)})
    for item in [
        *processes_of(playground, "console.shell.launch.worker"),
        *processes_of(playground, "console.automation.drill.holder"),
    ]:
        os.kill(item.pid, signal.SIGKILL)
    await_true(lambda: broker.status() != psutil.STATUS_STOPPED, "the broker goes on")
    expect(window.locator("[data-cell=state]")).to_have_text("done", timeout=OVER_MS)
    expect(window.locator("[data-cell=sentence]")).to_contain_text("Ended early: what held it up has ended")
