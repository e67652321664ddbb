"""What is registered elsewhere appears on open pages; while none is open nobody asks the registry."""

import re

import pytest
from asgiref.sync import sync_to_async
from django.urls import reverse

from console.cluster.schemas import collect
from console.cluster.schemas.client import RegistryClient
from console.cluster.schemas.collect import TOPIC, SchemaWatch
from console.cluster.schemas.configuration import RegistryAddress
from console.cluster.schemas.feature import LIVE_GROUP
from console.cluster.schemas.registry import RegisteredText
from console.kit.gateway.errors import GatewayError
from tests.console.cluster.schemas.conftest import ORDER, ORDER_WITH_NOTE
from tests.console.live_pages import open_page
from tests.zookeeper_server import free_ports

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def versions_pushed(monkeypatch) -> list[str]:
    """The versions that pages were told, oldest first."""
    versions: list[str] = []

    def push(group, template, context):
        assert (group, template) == (LIVE_GROUP, "schemas/partials/version.html")
        versions.append(context["version"])

    monkeypatch.setattr(collect, "push_partial", push)
    return versions


def test_while_no_page_is_open_the_registry_is_not_asked(
    registry, settings, cluster, versions_pushed, address, monkeypatch
):
    requests = []
    monkeypatch.setattr(RegistryClient, "ask", lambda *named, **more: requests.append(named))
    settings.SCHEMA_REGISTRY = address
    SchemaWatch(cluster).look({TOPIC})
    settings.SCHEMA_REGISTRY = None
    SchemaWatch(cluster).look({TOPIC})
    assert (requests, versions_pushed) == ([], [])


@pytest.mark.usefixtures("listeners")
def test_pages_are_told_of_subjects_and_twice_of_each_change(registry, cluster, versions_pushed, topic):
    watch = SchemaWatch(cluster)
    watch.look(())
    watch.look(())
    assert versions_pushed[-1].split(".")[0] == versions_pushed[-1].split(".")[1]
    watch.look(())
    assert versions_pushed[-1] == versions_pushed[-2]
    registry.register(f"{topic}-value", RegisteredText(ORDER))
    watch.look(())
    watch.look(())
    assert len(set(versions_pushed[-3:])) == 3
    registry.delete(f"{topic}-value", None, permanent=False)
    watch.look(())
    assert versions_pushed[-1] != versions_pushed[-2]


@pytest.mark.usefixtures("listeners")
def test_a_new_version_is_seen_by_the_topic_that_grew(registry, cluster, versions_pushed):
    cluster.create_topic(TOPIC, 1, 1)
    watch = SchemaWatch(cluster)
    for _ in range(2):
        watch.look({TOPIC})
    cluster.produce_record(TOPIC, 0, b"{}", b"{}")
    watch.look({TOPIC})
    assert versions_pushed[-1] != versions_pushed[-2]


@pytest.mark.usefixtures("listeners")
def test_a_registry_that_went_is_news_too(registry, cluster, versions_pushed, settings):
    watch = SchemaWatch(cluster)
    watch.look(())
    settings.SCHEMA_REGISTRY = RegistryAddress(f"http://127.0.0.1:{free_ports(1)[0]}")
    with pytest.raises(GatewayError):
        watch.look(())
    assert versions_pushed[-1].endswith(".away")


@pytest.mark.django_db(transaction=True)
async def test_a_page_hears_it_and_fetches_what_is_there_by_then(registry, cluster, viewer, client_of, topic):
    watch = SchemaWatch(cluster)
    browser = await sync_to_async(client_of)(viewer)
    address = reverse("schemas")
    drawn = await sync_to_async(browser.get)(address, {"search": topic})
    assert re.search(r'page=schemas"', drawn.content.decode())
    page = await open_page(viewer, "schemas")
    registry.register(f"{topic}-value", RegisteredText(ORDER))
    registry.register(f"{topic}-value", RegisteredText(ORDER_WITH_NOTE))
    await sync_to_async(watch.look)(())
    message = await page.receive_text()
    assert 'id="schemas-version"' in message
    (refreshed,) = re.findall(r'data-refreshes="([^"]*)"', message)
    again = (await sync_to_async(browser.get)(address, {"search": topic})).content.decode()
    assert f"{topic}-value" in again
    subject = (await sync_to_async(browser.get)(reverse("schema-subject", args=[f"{topic}-value"]))).content.decode()
    for region in refreshed.split():
        assert f'id="{region}" data-live' in again + subject
    for item in (again, subject):
        assert 'id="schemas-version"' in item
        assert 'page=schemas"' in item
    await page.disconnect()
