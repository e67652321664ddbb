"""A broker dies and stays away: moving its replicas is proposed, a person confirms, and every copy is there again."""

import os
import signal

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import running_product, signed_in, take_pictures

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(600)]
#: What a person sets on the page takes five minutes at least.
AT_ONCE = """
from console.healing.models import HealingRule
HealingRule.objects.create(kind="broker-gone", mode="propose", minutes=0, rate=20_000_000, actor_name="test")
from console.processes.models import ManagedProcess
row = ManagedProcess.objects.get(name="broker-4")
ManagedProcess.objects.filter(pk=row.pk).update(restart="never")
print(row.pid)
"""


@pytest.fixture(scope="module")
def four_brokers(tmp_path_factory):
    with running_product(tmp_path_factory.mktemp("product"), demo=False, more={"BARNABAS_BROKERS": "4"}) as running:
        yield running


def holders(admin: AdminClient, topic: str) -> set[int]:
    partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions.values()
    return {broker for each in partitions for broker in each.replicas}


def in_sync(admin: AdminClient, topic: str) -> bool:
    partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions.values()
    return all(len(each.isrs) == len(each.replicas) == 3 for each in partitions)


def test_a_broker_that_stays_away_is_replaced_when_somebody_confirms(four_brokers, chromium):
    admin = AdminClient(four_brokers.client)
    admin.create_topics([NewTopic("journey.healed", 8, 3)])["journey.healed"].result(30)
    await_true(lambda: holders(admin, "journey.healed") == {1, 2, 3, 4} and in_sync(admin, "journey.healed"), "spread")
    context = signed_in(chromium, four_brokers, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{four_brokers.console}/healing/")
    expect(page.get_by_text("Nothing is proposed.")).to_be_visible()
    os.kill(int(four_brokers.manage("shell", "-c", AT_ONCE).stdout.split()[-1]), signal.SIGKILL)
    page.get_by_role("link", name="Look at the plan…").click(timeout=120_000)
    expect(page.locator("main")).to_contain_text("Broker 4 is away and holds")
    path = page.url.removeprefix(four_brokers.console)
    take_pictures(chromium, four_brokers, "healing", {"queue": "/healing/", "proposal": path})
    page.get_by_role("button", name="Move them").click()
    expect(page.locator("main")).to_contain_text("Proposed")
    await_true(
        lambda: holders(admin, "journey.healed") == {1, 2, 3} and in_sync(admin, "journey.healed"), "healed", 120
    )
    page.goto(f"{four_brokers.console}/healing/")
    expect(page.locator("#healing-over")).to_contain_text("by admin")
    expect(page.get_by_text("Nothing is proposed.")).to_be_visible()
    context.close()
