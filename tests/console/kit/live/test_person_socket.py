"""A websocket stays open as long as the person may look, and leaves nothing behind, whatever it ends by."""

import json
from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError
from django.test import Client
from uvicorn.protocols.utils import ClientDisconnected

from console.asgi import application
from console.cluster.records import socket
from console.cluster.records.reader_slots import ReaderSlots
from console.cluster.records.socket import RecordsConsumer
from console.kit.access.initial_password import MUST_CHANGE
from console.kit.access.models import PasswordToChange
from console.kit.live import groups, person_socket
from console.kit.live.person_socket import CLOSE_FORBIDDEN, CLOSE_NOT_KNOWN, CLOSE_ONE_TIME_PASSWORD, CLOSE_TOO_MANY
from console.kit.live.push import send_now
from console.people.users.announce import announce_rights
from console.shell.web import feed
from console.shell.web.page_socket import PageConsumer
from console.state.clusters.models import Topic
from tests.console.conftest import PASSWORD
from tests.console.live_pages import look, open_page, watched_pages
from tests.console.websocket import Websocket
from tests.eventually import eventually

pytestmark = pytest.mark.django_db(transaction=True)
OWN = "a password of my own"
SOCKETS = [("/ws/live/", "page=overview"), ("/ws/records/", "topic=orders&mode=search&place=oldest")]


@pytest.fixture
def orders(cluster, db) -> Topic:
    cluster.create_topic("orders", 1, 1)
    cluster.produce_record("orders", 0, b"card", b"4111-1111", ())
    return Topic.objects.create(name="orders", partition_count=1)


def log_in(user: User) -> Client:
    client = Client()
    client.post("/login/", {"username": user.username, "password": PASSWORD})
    return client


def socket_of(client: Client, path: str, query: str) -> Websocket:
    """As a page opens it, with the cookie of its browser."""
    cookie = f"barnabas_session={client.cookies['barnabas_session'].value}".encode()
    headers = [(b"host", b"127.0.0.1"), (b"origin", b"http://127.0.0.1"), (b"cookie", cookie)]
    return Websocket(application, path, query, headers)


@pytest.mark.parametrize(("path", "query"), SOCKETS)
async def test_a_password_somebody_else_has_seen_opens_no_socket(path, query, viewer, orders):
    await sync_to_async(PasswordToChange.objects.create)(user=viewer)
    websocket = socket_of(await sync_to_async(log_in)(viewer), path, query)

    assert await websocket.connect()
    assert await websocket.receive_close() == CLOSE_ONE_TIME_PASSWORD


@pytest.mark.parametrize(("path", "query"), SOCKETS)
async def test_of_one_person_only_so_many_are_open_and_of_others_as_many(
    path, query, viewer, operator, orders, monkeypatch
):
    monkeypatch.setattr(person_socket, "SOCKETS_PER_PERSON_MAX", 2)
    client, other = await sync_to_async(log_in)(viewer), await sync_to_async(log_in)(operator)
    first, second = socket_of(client, "/ws/live/", "page=overview"), socket_of(client, "/ws/live/", "page=topics")
    assert await first.connect()
    assert await second.connect()
    third, of_another = socket_of(client, path, query), socket_of(other, "/ws/live/", "page=overview")
    assert await third.connect()
    assert await third.receive_close() == CLOSE_TOO_MANY
    assert await of_another.connect()
    await third.disconnect()
    await first.disconnect()
    instead = socket_of(client, "/ws/live/", "page=overview")
    assert await instead.connect()
    await sync_to_async(send_now)([(groups.HEARTBEAT, "<p>beat</p>")])
    assert await instead.receive_text() == "<p>beat</p>"
    for page in (second, of_another, instead):
        await page.disconnect()


@pytest.mark.parametrize(("path", "query"), SOCKETS)
async def test_the_password_of_ones_own_opens_them(path, query, reader, orders):
    await sync_to_async(PasswordToChange.objects.create)(user=reader)
    client = await sync_to_async(log_in)(reader)
    own = {"old_password": PASSWORD, "new_password1": OWN, "new_password2": OWN}
    await sync_to_async(client.post)("/password/", own)
    websocket = socket_of(client, path, query)

    assert await websocket.connect()
    await sync_to_async(send_now)([(groups.HEARTBEAT, "<p>beat</p>")])
    text = await websocket.receive_text()
    assert text == "<p>beat</p>" if "live" in path else json.loads(text)["began"] == "yes"
    await websocket.disconnect()


def demand_another_password() -> None:
    for object_ in SessionStore.get_model_class().objects.all():
        session = SessionStore(object_.session_key)
        session[MUST_CHANGE] = True
        session.save()


async def test_an_open_page_ends_when_its_login_holds_for_the_password_page_only(viewer, monkeypatch):
    monkeypatch.setattr(person_socket, "RECHECK_SECONDS", 0.02)
    websocket = socket_of(await sync_to_async(log_in)(viewer), "/ws/live/", "page=overview")
    assert await websocket.connect()
    await sync_to_async(demand_another_password)()

    assert await websocket.receive_close() == CLOSE_ONE_TIME_PASSWORD


def left_by_its_browser(consumer, tried: list[str]) -> Callable:
    """The consumer below a server whose browser goes once it is let in: as with uvicorn, sending raises."""

    async def run(scope, receive, send) -> None:
        async def send_in_vain(message: dict) -> None:
            if message["type"] == "websocket.accept":
                await send(message)
                return
            tried.append(message["type"])
            raise ClientDisconnected

        await consumer.as_asgi()(scope, receive, send_in_vain)

    return run


async def test_a_page_whose_browser_went_while_something_was_sent_is_forgotten(viewer, caplog):
    tried: list[str] = []
    websocket = Websocket(left_by_its_browser(PageConsumer, tried), "/ws/live/", "page=overview", user=viewer)
    assert await websocket.connect()
    (page,) = watched_pages()
    page.put("<p>news</p>")
    await eventually(lambda: tried, "the page was sent something")
    await websocket.disconnect()

    assert not watched_pages()
    assert groups.CLUSTER_OVERVIEW not in get_channel_layer().groups
    assert not caplog.records


async def test_a_reader_whose_browser_went_gives_its_seat_back_without_a_fuss(viewer, orders, caplog, monkeypatch):
    monkeypatch.setattr(socket, "SLOTS", ReaderSlots(slots_max=1, per_person_max=1))
    tried: list[str] = []
    reader = left_by_its_browser(RecordsConsumer, tried)
    websocket = Websocket(reader, "/ws/records/", "topic=orders&mode=tail", user=viewer)
    assert await websocket.connect()
    await eventually(lambda: tried, "the reader was told that it begins")
    await websocket.disconnect()

    assert socket.SLOTS.take(viewer.pk) == ""
    assert not get_channel_layer().groups
    assert not caplog.records


async def test_a_page_that_broke_is_forgotten_and_the_log_says_why_once(viewer, monkeypatch, caplog):
    async def break_down(*_arguments, **_named) -> None:
        tried.append("send")
        raise RuntimeError("nobody expected this")

    tried: list[str] = []
    monkeypatch.setattr(PageConsumer, "send", break_down)
    websocket = await open_page(viewer, "overview")
    (page,) = watched_pages()
    page.put("<p>news</p>")
    await eventually(lambda: tried, "the page was sent something")
    await websocket.disconnect()

    assert not watched_pages()
    assert [str(record.exc_info[1]) for record in caplog.records] == ["nobody expected this"]


def lose_database(*_arguments) -> None:
    raise OperationalError("database is locked")


async def test_a_page_whose_rows_could_not_be_drawn_comes_again_and_is_forgotten(viewer, orders, monkeypatch, caplog):
    monkeypatch.setattr(feed, "render_rows", lose_database)
    websocket = await open_page(viewer, "topics")
    await look(1, {"topic-row": [orders.pk]}, pages=["topics"])
    assert "live-resync" in await websocket.receive_text()
    await websocket.send_text(f'{{"rows": ["topic-row-{orders.pk}"]}}')
    assert await websocket.receive_close() == CLOSE_NOT_KNOWN
    await websocket.disconnect()

    assert not watched_pages()
    assert [str(record.exc_info[1]) for record in caplog.records] == ["database is locked"]


async def test_a_database_that_failed_once_ends_no_watch_over_rights(viewer, monkeypatch):
    monkeypatch.setattr(person_socket, "RECHECK_SECONDS", 0.02)
    websocket = await open_page(viewer, "overview")
    really = person_socket.refusal_now

    def fail_once(_scope) -> None:
        monkeypatch.setattr(person_socket, "refusal_now", really)
        lose_database()

    monkeypatch.setattr(person_socket, "refusal_now", fail_once)
    await sync_to_async(viewer.groups.clear)()

    assert await websocket.receive_close() == CLOSE_FORBIDDEN


@pytest.mark.parametrize("address", SOCKETS)
async def test_who_may_perhaps_not_look_any_more_is_sent_away_to_come_again(address, reader, orders, monkeypatch):
    monkeypatch.setattr(person_socket, "RECHECK_SECONDS", 0.02)
    consumer = PageConsumer if "live" in address[0] else RecordsConsumer
    websocket = Websocket(consumer.as_asgi(), address[0], address[1].replace("search", "tail"), user=reader)
    assert await websocket.connect()
    if consumer is RecordsConsumer:
        await websocket.receive_text()
    monkeypatch.setattr(person_socket, "refusal_now", lose_database)

    assert await websocket.receive_close() == CLOSE_NOT_KNOWN


async def test_a_page_told_of_other_rights_that_cannot_be_looked_up_ends(viewer, monkeypatch):
    websocket = await open_page(viewer, "overview")
    monkeypatch.setattr(person_socket, "refusal_now", lose_database)
    await sync_to_async(announce_rights)(viewer.pk)
    with pytest.raises(OperationalError):
        await websocket.end()

    assert not watched_pages()
