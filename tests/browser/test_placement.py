"""Topics come and go by plan, and partitions move by hand: plan, progress, calling off, undo."""

import re

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.browser.conftest import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
TOPIC = "journey.moves"
CREATED = "journey.created"


@pytest.fixture
def topic(product):
    """One partition of one replica with some megabytes in it, so that a throttled copy takes a while."""
    admin = AdminClient({**product.client})
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
    producer = Producer({**product.client, "linger.ms": 20})
    for _ in range(1_600):
        producer.produce(TOPIC, b"x" * 10_000, partition=0)
    assert producer.flush(30) == 0
    (partition,) = admin.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions.values()
    return partition.replicas[0]


def test_a_topic_is_created_by_plan_and_taken_back(page, product, chromium):
    page.goto(f"{product.console}/topics/")
    page.get_by_role("link", name="Create topic").click()
    page.get_by_label("Name").fill(CREATED)
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("As a command").click()
    expect(page.get_by_text(f"--create --topic {CREATED}")).to_be_visible()
    page.get_by_role("button", name="Create topic").click()
    expect(page.get_by_text(f"Topic {CREATED} was created.")).to_be_visible()
    expect(page.get_by_role("link", name=CREATED, exact=True)).to_be_visible()

    page.get_by_role("link", name="Plan the undo").click()
    expect(page.get_by_text("It is still empty: no record is lost.")).to_be_visible()
    address = page.url.removeprefix(product.console)
    pictures = {
        "undo-creation": address,
        "topic-delete": f"/topics/{CREATED}/+delete/",
        "add-partitions": f"/topics/{CREATED}/+partitions/",
    }
    take_pictures(chromium, product, "plan", pictures)
    page.get_by_role("button", name="Delete topic").click()
    expect(page.get_by_text(f"Topic {CREATED} is being deleted.")).to_be_visible()
    expect(page.get_by_role("link", name=CREATED, exact=True)).to_have_count(0)


@pytest.mark.long
def test_a_partition_is_moved_watched_called_off_and_taken_back(page, product, topic, chromium):
    target = topic % 3 + 1
    plan_move(page, product, target, throttle="0.1")
    take_pictures(chromium, product, "form", {"move": f"/placement/+move/?topic={TOPIC}&partition=0"})
    page.get_by_role("button", name="Move 1 partition").click()
    expect(page.get_by_text("1 partition is on the way.")).to_be_visible()
    moving = page.locator("#placement-moves tr", has_text=f"{TOPIC}-0")
    expect(moving).to_be_visible()
    expect(moving).to_contain_text(re.compile(r"[1-9]\d? %"))
    # A throttled copy comes in bursts: its pace is known after the second.
    expect(moving).to_contain_text(re.compile(r"\d+\s(s|min)"))
    pictures = {"placement": "/placement/", "call-off": "/placement/+call-off/", "choose": "/placement/+move/?search=j"}
    take_pictures(chromium, product, "moving", pictures)

    moving.get_by_role("link", name="Call off").click()
    page.get_by_role("button", name="Call off").click()
    expect(page.get_by_text("1 partition is called off.")).to_be_visible()
    expect(moving).to_have_count(0)
    rows = page.locator("#placement-moves tr", has_text="move partitions")
    expect(rows.first).to_contain_text("called off")
    expect(rows.first).to_contain_text("taken away")

    plan_move(page, product, target)
    page.get_by_role("button", name="Move 1 partition").click()
    expect(rows.first).to_contain_text("1 partition of 1 arrived.")
    rows.first.get_by_role("link", name="Plan the undo").click()
    page.get_by_role("button", name="Move 1 partition").click()
    undone = page.locator("#placement-moves tr", has_text="undo move")
    expect(undone).to_contain_text("1 partition of 1 arrived.")
    page.goto(f"{product.console}/topics/{TOPIC}/")
    expect(page.locator("#partition-0 .replica.is-leader")).to_have_text(str(topic))


def plan_move(page, product, target: int, throttle: str = "") -> None:
    """From the topic's page to the plan."""
    page.goto(f"{product.console}/topics/")
    page.get_by_role("link", name=TOPIC, exact=True).click()
    page.get_by_role("link", name="Move partition 0").click()
    page.get_by_label("Replicas of partition 0").fill(str(target))
    page.get_by_label(re.compile("Throttle")).fill(throttle)
    page.get_by_role("button", name="Preview").click()
    if throttle:  # It says more than three sentences then, which are folded.
        page.get_by_text("What it touches").click()
    expect(page.get_by_text(f"to broker {target}.")).to_be_visible()
    page.get_by_text("As a command").click()
    expect(page.get_by_text("--reassignment-json-file")).to_be_visible()


@pytest.mark.long
def test_the_cluster_is_drained_on_paper_and_its_retention_read(page, product, chromium):
    page.goto(f"{product.console}/placement/")
    page.get_by_role("link", name="Move partitions…").click()
    page.get_by_role("row", name=re.compile("Drain broker 3")).get_by_role("link").click()
    expect(page.get_by_role("heading", name="Drain broker 3")).to_be_visible()
    page.get_by_label("Pages", exact=True).get_by_role("link", name="Topics").click()
    page.get_by_label("Pages beside this one").get_by_role("link", name="Retention").click()
    expect(page.locator("#retention-disks tbody tr")).to_have_count(3)
    expect(page.locator("#retention-table tbody tr td").nth(1)).to_be_visible()
    take_pictures(chromium, product, "now", {"retention-cluster": "/retention/", "drain": "/placement/+move/?drain=3"})
