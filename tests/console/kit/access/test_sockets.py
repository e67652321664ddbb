"""Sockets of people with exceptions, and of people whose rights change while they look."""

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from console.cluster.records.socket import RecordsConsumer
from console.kit.access import internal_topics
from console.kit.live import groups
from console.kit.live.person_socket import CLOSE_FORBIDDEN, CLOSE_LOGIN, CLOSE_RIGHTS_CHANGED
from console.kit.live.push import send_now
from console.people.users.announce import announce_rights
from console.shell.web import page_socket
from console.shell.web.page_socket import PageConsumer
from console.state.clusters.models import Topic
from console.state.history.feature import LIVE_GROUP
from tests.console.websocket import Websocket

pytestmark = pytest.mark.django_db(transaction=True)


async def open_page(user, page: str) -> Websocket:
    websocket = Websocket(PageConsumer.as_asgi(), "/ws/live/", f"page={page}", user=user)
    assert await websocket.connect()
    return websocket


async def open_records(user, topic: str) -> Websocket:
    websocket = Websocket(RecordsConsumer.as_asgi(), "/ws/records/", f"topic={topic}&mode=tail", user=user)
    assert await websocket.connect()
    return websocket


async def push(group: str, html: str) -> None:
    await sync_to_async(send_now)([(group, html)])


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(page_socket, "HINT_SECONDS", 0.3)


@pytest.mark.parametrize(
    ("page", "group"),
    [
        ("overview", groups.CLUSTER_OVERVIEW),
        ("placement", groups.PLACEMENT),
        ("history", LIVE_GROUP),
        ("processes", groups.processes(True)),
    ],
)
async def test_what_is_rendered_for_all_is_only_a_hint_to_who_may_not_see_all(page, group, limited):
    websocket = await open_page(limited, page)
    await push(group, "<tr id='topic-row-1'>secret-plans</tr>")
    await push(group, "<tr id='topic-row-2'>secret-plans</tr>")
    await push(groups.HEARTBEAT, "<span id='heartbeat'></span>")
    received = [await websocket.receive_text() for _ in range(2)]

    assert not any("secret" in item for item in received)
    assert sum("live-resync" in item for item in received) == 1
    await websocket.disconnect()


async def test_the_page_of_a_topic_in_reach_gets_its_own_pushes(limited):
    websocket = await open_page(limited, "topic:orders")
    await push(groups.topic("orders"), "<p>orders</p>")

    assert await websocket.receive_text() == "<p>orders</p>"
    await websocket.disconnect()


async def test_the_page_of_a_hidden_topic_is_closed(limited):
    assert await (await open_page(limited, "topic:secret-plans")).receive_close() == CLOSE_FORBIDDEN


@pytest.mark.parametrize("name", ["secret-plans", "secret-nothing"])
async def test_records_of_a_hidden_topic_are_not_read(name, limited, cluster):
    cluster.create_topic("secret-plans", 1, 1)
    await sync_to_async(Topic.objects.create)(name="secret-plans", partition_count=1)

    assert await (await open_records(limited, name)).receive_close() == CLOSE_FORBIDDEN


def deactivate(user: User) -> None:
    user.is_active = False
    user.save()


def take_role(user: User) -> None:
    user.groups.clear()


def forget(user: User) -> None:
    user.delete()


@pytest.mark.parametrize(
    ("change", "code"), [(deactivate, CLOSE_FORBIDDEN), (take_role, CLOSE_FORBIDDEN), (forget, CLOSE_LOGIN)]
)
async def test_open_sockets_end_at_once_with_the_right(change, code, reader, cluster):
    cluster.create_topic("orders", 1, 1)
    await sync_to_async(Topic.objects.create)(name="orders", partition_count=1)
    page, records = await open_page(reader, "topics"), await open_records(reader, "orders")
    await records.receive_text()
    number = reader.pk
    await sync_to_async(change)(reader)
    await sync_to_async(announce_rights)(number)

    assert await page.receive_close() == code
    assert await records.receive_close() == code


async def test_a_new_rule_makes_open_pages_load_again(viewer, give_rule):
    page = await open_page(viewer, "topics")
    await sync_to_async(give_rule)(viewer, "nothing", "topic", "secret-*")
    await sync_to_async(announce_rights)(viewer.pk)

    assert await page.receive_close() == CLOSE_RIGHTS_CHANGED


async def test_sockets_of_others_and_those_still_in_order_go_on(viewer, operator):
    pages = [await open_page(item, "overview") for item in (viewer, operator)]
    await sync_to_async(announce_rights)(viewer.pk)
    await push(groups.CLUSTER_OVERVIEW, "<p>well</p>")

    for page in pages:
        assert await page.receive_text() == "<p>well</p>"
        await page.disconnect()


async def test_the_page_of_a_topic_is_opened_without_a_question_to_the_database(reader):
    """It is asked for on the loop, which may not wait for one: names of configurations are read when records are."""
    await sync_to_async(Topic.objects.create)(name="orders")
    await sync_to_async(internal_topics.forget)()
    websocket = await open_page(reader, "topic:orders")
    await push(groups.HEARTBEAT, "<span id='heartbeat'></span>")
    assert "heartbeat" in await websocket.receive_text()
    await websocket.disconnect()
