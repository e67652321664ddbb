"""Messages of a topic on a real broker: searched, gone on with, exported and copied, in the console's web process."""

import csv
import json
import re
import time

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true, running_cluster
from tests.browser.conftest import DEADLINE_MS, WIDER, every_look, screenshot, session_of
from tests.browser.test_every_page import LOOK
from tests.browser.web_process import web_process

pytestmark = [pytest.mark.browser, pytest.mark.timeout(280)]
TOPIC, WIDE = "orders", "w" * 249
RECORDS = 6_000
WORLD = f"""
from console.state.clusters.models import Topic
for name in ({TOPIC!r}, {WIDE!r}):
    Topic.objects.create(name=name, partition_count=3, replication_factor=1, record_count={RECORDS})
"""
#: Where a page may write a file, in the place of the browser's own dialog: what is written is kept.
FILE = """window.showSaveFilePicker = async ({ suggestedName }) => {
  window.file = { name: suggestedName, text: "", isClosed: false, isAborted: false };
  const decoder = new TextDecoder();
  return { createWritable: async () => ({
    write: async (data) => { window.file.text += decoder.decode(data, { stream: true }); },
    close: async () => { window.file.isClosed = true; },
    abort: async () => { window.file.isAborted = true; },
  }) };
};"""


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    directory = tmp_path_factory.mktemp("search")
    with running_cluster(directory / "cluster") as brokers:
        fill(brokers.bootstrap_servers)
        named = {"BARNABAS_BOOTSTRAP_SERVERS": brokers.bootstrap_servers}
        place = directory / "web"
        place.mkdir()
        with web_process(place, WORLD, **named) as port:
            yield f"http://127.0.0.1:{port}"


def fill(servers: str) -> None:
    """Of each second a thousand records, in three partitions by key; number 7 is among the oldest."""
    admin = AdminClient({"bootstrap.servers": servers})
    for created in admin.create_topics([NewTopic(TOPIC, 3, 1), NewTopic(WIDE, 3, 1)]).values():
        created.result(30)
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, "partitioner": "murmur2_random"})
    begin_ms = time.time_ns() // 1_000_000 - 60 * RECORDS
    for number in range(RECORDS):
        value = json.dumps({"number": number, "status": "PAID" if number % 1_000 == 7 else "OPEN"}).encode()
        producer.produce(TOPIC, value, f"user-{number:07}", timestamp=begin_ms + number * 60, headers={"trace": "t-1"})
        producer.poll(0)
    producer.produce(WIDE, b"x", b"k", partition=0)
    assert producer.flush(60) == 0


@pytest.fixture(scope="module")
def session(chromium, console):
    return session_of(chromium, console)


@pytest.fixture
def page(chromium, session):
    context = chromium.new_context(
        storage_state=session, viewport={"width": 1440, "height": 900}, accept_downloads=True
    )
    context.set_default_timeout(DEADLINE_MS)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    yield page
    context.close()


def open_messages(page, console: str, query: str = "", topic: str = TOPIC) -> None:
    page.goto(f"{console}/topics/{topic}/+records/{query}")


def times_of(page) -> list[str]:
    return page.locator("#record-rows time").evaluate_all("all => all.map((each) => each.getAttribute('datetime'))")


def test_a_key_among_the_oldest_records_is_found_from_the_newest_on(page, console):
    open_messages(page, console)
    page.get_by_label("Search", exact=True).fill("user-0000007")
    page.get_by_label("Search in").select_option("key")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(
        page.get_by_text(re.compile(r"Searched all [0-9,]+ records of partition \d \(where the Java client"))
    ).to_be_visible()
    expect(page.locator("#record-rows tr")).to_have_count(1)
    expect(page.locator("#record-rows tr")).to_contain_text('"number": 7')
    expect(page.locator("[data-continue]")).to_have_count(0)
    screenshot(page, "search-key")


def test_a_search_that_stops_names_what_is_left_and_continues_beside_what_it_found(page, console):
    open_messages(page, console, "?search=user-&searched=any&limit=25")
    rows = page.locator("#record-rows tr")
    expect(page.get_by_text(re.compile(r"Searched the newest \d+ of 6,000 records: 25 found\."))).to_be_visible()
    expect(rows).to_have_count(25)
    assert times_of(page) == sorted(times_of(page), reverse=True)
    expect(rows.first).to_contain_text('"number": 5999')
    page.get_by_role("link", name="Continue search: older records").click()
    expect(rows).to_have_count(50)
    expect(
        page.get_by_text("Searched 25 more of 6,000 records: 25 found. 5,950 older records were not")
    ).to_be_visible()
    assert times_of(page) == sorted(times_of(page), reverse=True)
    screenshot(page, "search-continued")


def test_what_the_page_shows_is_found_as_it_is_shown(page, console):
    open_messages(page, console, "?search=%22status%22%3A+%22PAID%22&limit=100")
    expect(page.get_by_text("Searched all 6,000 records: 6 found.")).to_be_visible()
    open_messages(page, console, "?searched=cel&search=value.number%3C3")
    expect(page.get_by_text("Searched all 6,000 records: 3 found.")).to_be_visible()
    open_messages(page, console, "?search=nothing-of-the-kind")
    expect(page.get_by_text("Searched all 6,000 records: not in them.")).to_be_visible()
    expect(page.get_by_text("No record that was searched matches.")).to_be_visible()


def test_an_export_counts_before_and_writes_every_record_with_its_progress(page, console):
    page.add_init_script(FILE)
    open_messages(page, console, "#export")
    expect(page.get_by_text("6\u202f000 records at most")).to_be_visible()
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_text(re.compile(r"Exported: 6,000 lines, [\d.]+ MB\."))).to_be_visible()
    written = page.evaluate("window.file")
    assert (written["name"], written["isClosed"]) == (f"records-{TOPIC}.jsonl", True)
    numbers = sorted(json.loads(line)["value"]["number"] for line in written["text"].splitlines())
    assert numbers == list(range(RECORDS))
    open_messages(page, console, "?last=5m#export")
    expect(page.locator("[data-export-count]")).not_to_contain_text("6\u202f000")
    screenshot(page, "export")


def test_an_export_is_cancelled_and_leaves_no_file(page, console):
    written = "window.file.text +="
    page.add_init_script(FILE.replace(written, f"await new Promise((go) => {{ window.goOn = go; }}); {written}"))
    open_messages(page, console, "#export")
    page.get_by_role("button", name="Export", exact=True).click()
    await_true(lambda: page.evaluate("Boolean(window.goOn)"), "the first piece is to be written")
    page.get_by_role("button", name="Cancel").click()
    page.evaluate("window.goOn()")
    expect(page.get_by_text("Cancelled: no file was written.")).to_be_visible()
    assert page.evaluate("window.file.isAborted")


def test_without_files_of_its_own_the_page_leaves_the_export_to_the_browser(page, console):
    page.add_init_script("delete window.showSaveFilePicker")
    open_messages(page, console, "?search=PAID#export")
    page.get_by_label("Format").select_option("csv")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export", exact=True).click()
    rows = list(csv.DictReader(download.value.path().read_text().splitlines(keepends=True)))
    assert download.value.suggested_filename == f"records-{TOPIC}-found.csv"
    assert sorted(json.loads(row["value"])["number"] for row in rows) == list(range(7, RECORDS, 1_000))


def test_records_are_gone_through_and_copied_in_the_drawer(page, console):
    open_messages(page, console, "?place=oldest&partition=0")
    page.locator("#record-rows tr").first.get_by_role("link").click()
    drawer = page.get_by_role("dialog", name="The record")
    expect(drawer).to_contain_text("CreateTime")
    expect(drawer.locator(".summary time")).to_have_text(re.compile(r"\d\d:\d\d:\d\d\.\d{3} (UTC|[+-]\d\d:\d\d)"))
    drawer.get_by_role("button", name="Next").click()
    expect(drawer.get_by_role("heading", name="Partition 0, offset 1")).to_be_visible()
    drawer.get_by_role("button", name="Copy the value").click()
    expect(drawer.get_by_text("Copied")).to_be_visible()
    assert json.loads(page.evaluate("navigator.clipboard.readText()"))["status"] == "OPEN"
    screenshot(page, "drawer")


def test_numbers_are_copied_as_plain_digits(page, console):
    open_messages(page, console, "?place=offset&partition=0&offset=1500")
    row = page.locator("#record-rows tr").first
    expect(row).to_contain_text("0 : 1\u202f500")
    row.locator("td").first.click(click_count=3, position={"x": 2, "y": 2})
    page.evaluate("document.getSelection().selectAllChildren(document.querySelector('#record-rows tr'))")
    page.keyboard.press("Control+C")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "0 : 1500" in copied
    assert "\u202f" not in copied


def test_a_wrong_word_in_an_address_is_told(page, console):
    open_messages(page, console, "?place=moment")
    expect(page.get_by_text("place=moment is not known and is ignored.")).to_be_visible()


@pytest.mark.parametrize(("topic", "query"), [(WIDE, ""), (TOPIC, "?partition=1&shown=hex&last=24h#export")])
def test_the_messages_fit_their_window(page, console, topic, query):
    open_messages(page, console, query, topic)
    expect(page.locator("#record-rows tr[id]").first).to_be_visible()
    for theme, width in every_look(page):
        screenshot(page, f"messages-{topic[:6]}-{width}-{theme}")
        assert page.evaluate(WIDER) <= 0, (topic[:9], width, theme)
        assert page.evaluate(LOOK) == [], (topic[:9], width, theme)
