"""A broker dies and stays away: moving its replicas is proposed, a person confirms, and every copy is there again."""

import os
import signal

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import signed_in, take_pictures

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(600)]
#: What a person sets on the page takes five minutes at least.
AT_ONCE = """
from console.automation.healing.models import HealingRule
HealingRule.objects.create(kind="broker-gone", mode="propose", minutes=0, rate=20_000_000, actor_name="test")
from console.processes.models import ManagedProcess
row = ManagedProcess.objects.get(name="broker-4")
ManagedProcess.objects.filter(pk=row.pk).update(restart="never")
print(row.pid)
"""


def holders(admin: AdminClient, topic: str) -> set[int]:
    partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions.values()
    return {broker for partition in partitions for broker in partition.replicas}


def in_sync(admin: AdminClient, topic: str) -> bool:
    partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions.values()
    return all(len(partition.isrs) == len(partition.replicas) == 3 for partition in partitions)


def test_a_broker_that_stays_away_is_replaced_when_somebody_confirms(playground, chromium):
    admin = AdminClient(playground.client)
    admin.create_topics([NewTopic("journey.healed", 8, 3)])["journey.healed"].result(30)
    await_true(lambda: holders(admin, "journey.healed") == {1, 2, 3, 4} and in_sync(admin, "journey.healed"), "spread")
    context = signed_in(chromium, playground, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{playground.console}/healing/")
    expect(page.get_by_text("Nothing is proposed.")).to_be_visible()
    os.kill(int(playground.manage("shell", "-c", AT_ONCE).stdout.split()[-1]), signal.SIGKILL)
    page.get_by_role("link", name="Look at the plan…").click(timeout=120_000)
    expect(page.locator("main")).to_contain_text("Broker 4 is away and holds")
    path = page.url.removeprefix(playground.console)
    take_pictures(chromium, playground, "healing", {"queue": "/healing/", "proposal": path})
    page.get_by_role("button", name="Move them").click()
    expect(page.locator("main")).to_contain_text("Proposed")
    await_true(
        lambda: holders(admin, "journey.healed") == {1, 2, 3} and in_sync(admin, "journey.healed"), "healed", 120
    )
    page.goto(f"{playground.console}/healing/")
    expect(page.locator("#healing-over")).to_contain_text("by admin")
    expect(page.get_by_text("Nothing is proposed.")).to_be_visible()
    page.goto(f"{playground.console}/processes/broker-4/")
    page.get_by_role("button", name="Start", exact=True).click()
    context.close()
