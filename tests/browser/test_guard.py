"""The question before a stop in a real browser: it is asked anew in its place, and goes when it was answered."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DEADLINE_MS, WIDER, every_look, screenshot, session_of
from tests.browser.web_process import web_process

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
#: Three brokers, the third stopped; a group that nobody reads for; a broker that has left.
WORLD = """
from django.conf import settings
from django.utils import timezone
from console.state.clusters.models import Broker
from console.state.clusters.models import ClusterState, QuietReason
from console.state.consumers.models import ConsumerGroup
from console.automation.decommission.models import Decommission
from console.kit.common.clock import now_ms
from console.automation.decommission.models import Decommission
from console.state.history.models import Change
from console.kit.common.clock import now_ms
from console.processes.models import ManagedProcess
from console.automation.rolling_restart.models import RollingRestart
from console.state.clusters.models import Partition, Topic
far = now_ms() + 600_000
ClusterState.objects.create(name="default", controller_id=1, topics_at_ms=far, brokers_at_ms=far, heartbeat_at_ms=far)
running = {"observed": "running", "state": "healthy", "desired": "running", "started_at": timezone.now()}
stopped = {"observed": "stopped", "state": "stopped"}
for number in (1, 2, 3):
    Broker.objects.create(broker_id=number, is_registered=number < 3, replica_count=13, copying_count=number == 2)
    seen = running | {"pid": 4_000 + number} if number < 3 else stopped
    ManagedProcess.objects.create(name=f"broker-{number}", kind="broker", host=settings.HOST_NAME, **seen)
orders = Topic.objects.create(name="orders", partition_count=12, min_insync_replicas=2, under_replicated_count=12)
for number in range(12):
    Partition.objects.create(topic=orders, partition=number, leader=1, replicas=[1, 2, 3], isr=[1, 2])
Change.objects.create(at_ms=now_ms(), kind="unclean", object_name="orders", partition=3, tone="critical",
    sentence="orders-3: unclean election: broker 2 leads, previously broker 1, and its log ends earlier. At least 54 "
    "acknowledged records are lost: readers saw it end at 1,234, now it ends at 1,180")
for name in ("billing-old", "a.group.with.a.name.that.is.quite.long." * 4):
    ConsumerGroup.objects.create(name=name, state="Empty", coordinator=2, lag=45_880, verdict="stopped", severity=99)
now = timezone.now()
Decommission.objects.create(name="broker-4", broker_id=4, state="done", held=94, actor_name="admin", ended_at=now,
    sentence="It has been stopped and is not managed here any more; its files stay.")
RollingRestart.objects.create(actor_name="admin", state="done", ended_at=now, sentence="All 3 brokers restarted.")
"""


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    with web_process(tmp_path_factory.mktemp("guard"), WORLD) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def session(chromium, console):
    return session_of(chromium, console)


@pytest.fixture
def page(chromium, session):
    context = chromium.new_context(storage_state=session)
    context.set_default_timeout(DEADLINE_MS)
    yield context.new_page()
    context.close()


def test_a_stop_that_takes_writers_down_is_asked_anew_until_the_name_is_typed(page, console):
    page.goto(f"{console}/processes/")
    page.locator("#connection[data-state=live]").wait_for()
    page.locator("#broker-2-stop").click()
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("12 partitions fall below min.insync.replicas")
    question.get_by_role("button", name="Stop broker-2").click()
    expect(question.get_by_role("alert")).to_contain_text("type the name exactly, broker-2")
    question.get_by_label("Type the name to confirm").fill("broker-2")
    question.get_by_role("button", name="Stop broker-2").click()
    expect(question).to_have_count(0)
    expect(page.locator("#process-broker-2")).to_contain_text("stop requested")


@pytest.mark.long
def test_a_group_is_retired_where_health_says_why(page, console):
    page.goto(console)
    page.get_by_role("link", name="Acknowledge or mute…").first.click()
    page.get_by_role("row", name="billing-old").get_by_role("link").click()
    page.get_by_label("Why").fill("The service is gone.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#quiet-reasons")).to_contain_text("The service is gone.")
    page.goto(console)
    expect(page.locator("#health")).to_contain_text("1 group retired")


@pytest.mark.long
def test_pages_of_the_guard_can_be_looked_at(page, console):
    pages = {
        "overview": "/",
        "health": "/health/",
        "quiet": "/health/quiet?key=group:unread:billing-old",
        "past": "/health/quiet?key=unclean+elections",
        "history": "/history/",
        "stop": "/processes/broker-1/stop",
        "rolling": "/processes/+rolling-restart/",
        "decommission": "/processes/+decommission/broker-4/",
        "brokers": "/brokers/",
    }
    for name, path in pages.items():
        page.goto(console + path)
        for theme, width in every_look(page):
            screenshot(page, f"guard-{name}-{theme}-{width}", full_page=True)
            assert page.evaluate(WIDER) <= 0, (name, theme, width)


@pytest.mark.long
def test_an_unclean_election_counts_until_it_is_acknowledged(page, console):
    page.goto(f"{console}/health/")
    page.get_by_role("row", name="Unclean election in orders").get_by_role("link").click()
    expect(page.get_by_label("What is said of it")).to_have_text(re.compile("it counts no more"))
    page.get_by_label("Why").fill("The orders were sent again.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#quiet-reasons")).to_contain_text("The orders were sent again.")
    page.goto(console)
    expect(page.locator("#health")).to_contain_text("unclean elections acknowledged")
