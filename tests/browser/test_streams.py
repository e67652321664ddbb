"""A stream job from the form to its end: its chart moves, its driver is killed and comes back, and it is stopped."""

import os
import re
import signal

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import from_menu, running_product, screenshot, take_pictures
from tests.browser.test_journey import next_offset, open_topic

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(900)]
#: A driver starts Java, Spark and its first batch; on a machine that does other things it takes long.
STARTS_MS = 240_000
NAME = "metrics-by-key"


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    """With the demo: its sources and its job."""
    with running_product(tmp_path_factory.mktemp("demo")) as running:
        yield running


def go(page, product, path: str) -> None:
    page.goto(product.console + path)
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def await_batches(page) -> None:
    """The query runs: a batch is told of, then a later one."""
    progress = page.locator("#stream-progress")
    expect(progress).to_have_attribute("data-batch", re.compile(r"^\d+$"), timeout=STARTS_MS)
    batch = progress.get_attribute("data-batch")
    expect(progress).not_to_have_attribute("data-batch", batch, timeout=STARTS_MS)


def test_the_stream_job_counts_the_consoles_own_requests(page, product):
    page.goto(f"{product.console}/")
    expect(page.get_by_role("link", name="host.metrics")).to_be_visible()
    open_topic(page, product, "console.access.counts")
    expect(next_offset(page, partition=0)).to_have_text(re.compile(r"^[1-9]"), timeout=STARTS_MS)
    screenshot(page, "stream-output")
    page.goto(f"{product.console}/")
    expect(page.get_by_text("Healthy", exact=True)).to_be_visible(timeout=STARTS_MS)
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    screenshot(page, "overview", for_readme=True)


def test_a_job_is_submitted_killed_recovers_and_is_stopped(page, product, chromium):
    go(page, product, "/streams/")
    page.get_by_role("link", name="Add a stream job…").click()
    page.get_by_role("link", name="count_table").click()
    page.get_by_label("Name of the stream job").fill(NAME)
    page.get_by_label("input.topic").fill("host.metrics")
    page.get_by_label("output.topic").fill("host.metrics.counts")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#plan")).to_contain_text("output.topic=host.metrics.counts")
    page.get_by_role("button", name="Add stream job").click()

    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    page.evaluate("window.stillTheSamePage = true")
    await_batches(page)
    expect(page.locator("[data-cell=state]")).to_have_text("healthy", timeout=STARTS_MS)
    pictures = {"streams": "/streams/", "stream": f"/streams/{NAME}/", "choose": "/streams/+add/"}
    pictures |= {"form": "/streams/+add/windowed_counts/", "reset": f"/streams/{NAME}/reset"}
    take_pictures(chromium, product, "streams", pictures)

    before = page.locator("[data-cell=pid]").inner_text()
    os.kill(int(before), signal.SIGKILL)
    expect(page.locator("[data-cell=pid]")).not_to_have_text(re.compile(f"^({before}|–)$"), timeout=STARTS_MS)
    expect(page.locator("[data-cell=state]")).to_have_text("healthy", timeout=STARTS_MS)
    await_batches(page)
    assert page.evaluate("window.stillTheSamePage") is True

    page.get_by_role("button", name="Stop…").click()
    page.locator("[data-confirm=stop]").click()
    expect(page.locator("[data-cell=state]")).to_have_text("stopped", timeout=STARTS_MS)
    expect(page.locator("main")).not_to_contain_text("had to be killed")

    page.get_by_role("link", name="Reset checkpoint…").click()
    expect(page.locator("#plan")).to_contain_text("offsets are read again")
    page.get_by_label("Type the name to confirm").fill(NAME)
    page.get_by_role("button", name="Reset the checkpoint").click()
    expect(page.locator(".banner.success")).to_contain_text("begins without a checkpoint when it is started")
    from_menu(page, "Remove stream job…")
    page.get_by_label("Type the name to confirm").fill(NAME)
    page.get_by_role("button", name=f"Remove {NAME}").click()
    expect(page.locator(f"#stream-{NAME}")).to_have_count(0)
