"""Two real clusters in one console: each is live, what is done in one is not done in the other, and one may be away."""

import os
import re
import signal

import psutil
import pytest
from confluent_kafka.admin import AdminClient
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import PASSWORD, running_product, screenshot, take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(300)]
TOPIC = "only.there"
THERE = "/c/backup"
LOOKER = f"""
from django.contrib.auth.models import User
from console.kit.access.models import ClusterRole
looker = User.objects.create_user("looker", password="{PASSWORD}")
ClusterRole.objects.create(user=looker, cluster="backup", role="viewer")
"""


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    with running_product(tmp_path_factory.mktemp("two"), demo=False, more={"BARNABAS_MIRROR": "1"}) as running:
        yield running


def live(page, address: str) -> None:
    page.goto(address)
    page.locator("#connection[data-state=live]").wait_for()


def servers_of_backup(product) -> str:
    first = int(product.bootstrap_servers.partition(",")[0].rpartition(":")[2])
    return f"127.0.0.1:{first + 200}"


def topics(servers: str) -> set[str]:
    return set(AdminClient({"bootstrap.servers": servers}).list_topics(timeout=10).topics)


def test_a_console_over_two_clusters(page, product, chromium):
    here, there = page, page.context.new_page()
    live(here, f"{product.console}/topics/")
    live(there, f"{product.console}/topics/")

    there.locator(".cluster-switch summary").click()
    there.get_by_label("Clusters").get_by_role("link", name="backup").click()
    expect(there).to_have_url(re.compile(rf"{THERE}/topics/$"))
    there.locator("#connection[data-state=live]").wait_for()
    expect(there.locator(".cluster-strip")).to_have_attribute("data-colour", "purple")

    there.get_by_role("link", name="Create topic").click()
    there.get_by_label("Name").fill(TOPIC)
    there.get_by_role("button", name="Preview").click()
    expect(there.locator("#plan")).to_contain_text(servers_of_backup(product))
    there.get_by_role("button", name="Create topic").click()
    expect(there.get_by_role("link", name=TOPIC, exact=True)).to_be_visible()
    assert TOPIC in topics(servers_of_backup(product))
    assert TOPIC not in topics(product.bootstrap_servers)
    expect(here.get_by_role("link", name=TOPIC, exact=True)).to_have_count(0)
    assert here.request.get(f"{product.console}/topics/{TOPIC}/").status == 404
    assert here.request.get(f"{product.console}{THERE}/topics/{TOPIC}/").status == 200
    expect(there.get_by_role("link", name="Processes", exact=True)).to_have_count(0)

    paths = {
        "clusters": "/clusters/",
        "compare": "/clusters/+compare/?left=main&right=backup",
        "second": f"{THERE}/",
    }
    take_pictures(chromium, product, "two", paths)
    live(here, f"{product.console}/clusters/+compare/?left=main&right=backup")
    expect(here.locator("main")).to_contain_text(TOPIC)

    live(here, f"{product.console}/")
    live(there, f"{product.console}{THERE}/")
    expect(there.locator("#health")).to_contain_text("Healthy")
    broker = broker_of_backup(product)
    broker.send_signal(signal.SIGSTOP)
    try:
        expect(there.locator("#health")).not_to_contain_text("Healthy")
        screenshot(there, "two-clusters-one-away")
        for reason in there.locator("#health a").all():
            address = reason.get_attribute("href")
            assert there.request.get(f"{product.console}{address}").status == 200, address
        live(here, f"{product.console}/topics/")
        live(here, f"{product.console}/clusters/")
        expect(here.locator("main")).to_contain_text("backup")
    finally:
        broker.send_signal(signal.SIGCONT)
    expect(there.locator("#health")).to_contain_text("Healthy")


def test_who_has_a_role_in_one_cluster_meets_no_other(product, chromium):
    product.manage("shell", "--verbosity", "0", "--command", LOOKER)
    context = chromium.new_context()
    own = context.new_page()
    own.goto(product.console)
    own.get_by_label("User name").fill("looker")
    own.get_by_label("Password").fill(PASSWORD)
    own.keyboard.press("Enter")
    expect(own.locator("main")).to_contain_text("backup")
    live(own, f"{product.console}{THERE}/topics/")
    expect(own.get_by_label("Clusters").get_by_role("link", name="main")).to_have_count(0)
    for path in ("/topics/", "/brokers/", "/c/nowhere/topics/"):
        assert own.request.get(f"{product.console}{path}").status == 404, path
    assert own.request.get(f"{product.console}{THERE}/topics/+create/").status == 403
    context.close()


def broker_of_backup(product) -> psutil.Process:
    directory = os.fspath(product.data / "backup")
    processes = []

    def is_found() -> bool:
        processes[:] = [item for item in psutil.process_iter() if is_broker_below(item, directory)]
        return bool(processes)

    await_true(is_found, "the second cluster's broker")
    return processes[0]


def is_broker_below(process: psutil.Process, directory: str) -> bool:
    try:
        line = process.cmdline()
    except psutil.Error:
        return False
    return "server" in line and any(item.startswith(directory) for item in line)
