"""The websocket: who may listen, to what, and what a slow reader costs."""

import asyncio
import json
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.models import AnonymousUser, Group, User
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone

from console.asgi import application
from console.cluster.brokers.feature import broker_group
from console.kit.access.rights import ROLES, Right
from console.kit.live import groups, person_socket
from console.kit.live.push import send_now
from console.shell.web import page_socket
from console.shell.web.page_socket import PageConsumer, groups_for
from tests.console.websocket import Websocket
from tests.eventually import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def make_user(name: str, role: str = "") -> User:
    user = User.objects.create_user(name)
    if role:
        user.groups.add(Group.objects.get_or_create(name=role)[0])
    return user


async def connect(user, page: str) -> Websocket:
    websocket = Websocket(PageConsumer.as_asgi(), "/ws/live/", f"page={page}", user=user)
    assert await websocket.connect()
    return websocket


async def push(group: str, html: str) -> None:
    await sync_to_async(send_now)([(group, html)])


async def test_a_viewer_gets_what_is_pushed_to_the_page():
    websocket = await connect(await sync_to_async(make_user)("viewer", "viewer"), "overview")
    await push(groups.CLUSTER_OVERVIEW, "<p id='health'>well</p>")

    assert await websocket.receive_text() == "<p id='health'>well</p>"
    await websocket.disconnect()


async def test_a_page_gets_nothing_of_other_pages():
    websocket = await connect(await sync_to_async(make_user)("viewer", "viewer"), "topic:orders")
    await push(groups.topic("payments"), "<p>payments</p>")
    await push(groups.topic("orders"), "<p>orders</p>")

    assert await websocket.receive_text() == "<p>orders</p>"
    await websocket.disconnect()


@pytest.mark.parametrize(("role", "first"), [("viewer", "<p>orders</p>"), ("operator", "<p>waits</p>")])
async def test_that_a_change_waits_is_told_to_who_may_decide_about_one(role, first):
    websocket = await connect(await sync_to_async(make_user)("somebody", role), "topic:orders")
    await push(groups.WAITING_CHANGES, "<p>waits</p>")
    await push(groups.topic("orders"), "<p>orders</p>")

    assert await websocket.receive_text() == first
    await websocket.disconnect()


async def test_nobody_is_told_to_log_in():
    assert await (await connect(AnonymousUser(), "overview")).receive_close() == person_socket.CLOSE_LOGIN


async def test_an_outsider_is_told_of_the_missing_right():
    outsider = await sync_to_async(make_user)("outsider")

    assert await (await connect(outsider, "overview")).receive_close() == person_socket.CLOSE_FORBIDDEN


@pytest.mark.parametrize("page", ["", "nowhere", "topic:", "overview:x"])
async def test_an_unknown_page_is_closed(page):
    viewer = await sync_to_async(make_user)("viewer", "viewer")

    assert await (await connect(viewer, page)).receive_close() == person_socket.CLOSE_UNKNOWN_PAGE


async def test_a_page_that_stays_open_ends_with_the_role(monkeypatch):
    monkeypatch.setattr(person_socket, "RECHECK_SECONDS", 0.02)
    viewer = await sync_to_async(make_user)("viewer", "viewer")
    websocket = await connect(viewer, "overview")
    await sync_to_async(viewer.groups.clear)()

    assert await websocket.receive_close() == person_socket.CLOSE_FORBIDDEN


def delete_sessions(_user: User) -> None:
    SessionStore.get_model_class().objects.all().delete()


def let_sessions_expire(_user: User) -> None:
    SessionStore.get_model_class().objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def change_password(user: User) -> None:
    user.set_password("another long password")
    user.save()


@pytest.mark.parametrize("end", [delete_sessions, let_sessions_expire, change_password])
async def test_a_page_that_stays_open_ends_with_the_session(monkeypatch, end):
    monkeypatch.setattr(person_socket, "RECHECK_SECONDS", 0.02)
    user = await sync_to_async(make_user)("viewer", "viewer")
    websocket = Websocket(application, "/ws/live/", "page=overview", await sync_to_async(headers_of)(user))
    assert await websocket.connect()
    await sync_to_async(end)(user)

    assert await websocket.receive_close() == person_socket.CLOSE_LOGIN


async def test_a_silent_page_is_kept_alive(monkeypatch):
    monkeypatch.setattr(page_socket, "KEEPALIVE_SECONDS", 0.02)
    websocket = await connect(await sync_to_async(make_user)("viewer", "viewer"), "other")

    assert 'id="live-keepalive"' in await websocket.receive_text()
    await websocket.disconnect()


async def test_what_a_page_sends_is_ignored():
    websocket = await connect(await sync_to_async(make_user)("viewer", "viewer"), "overview")
    await websocket.send_text("delete everything")
    await push(groups.CLUSTER_OVERVIEW, "<p>still here</p>")

    assert await websocket.receive_text() == "<p>still here</p>"
    await websocket.disconnect()


async def test_a_flood_of_what_a_page_shows_costs_as_much_as_its_last_word(monkeypatch):
    """A reader who names 300 other rows in each message would have them rendered for each, before everyone else's."""
    shown = []

    async def show(_feed, _page, message):
        shown.append(message)

    monkeypatch.setattr("console.shell.web.feed.Feed.show", show)
    websocket = await connect(await sync_to_async(make_user)("viewer", "viewer"), "topics")
    for number in range(500):
        await websocket.send_text(json.dumps({"rows": [f"topic-row-{number}"]}))
    await eventually(lambda: shown and shown[-1].keys == {("topic-row", 499)}, "the last word counts")
    assert len(shown) <= 3
    await websocket.disconnect()


async def test_rows_are_rendered_for_one_page_of_a_person_at_a_time(monkeypatch):
    at_once, most, done = [], [], []

    async def show(_feed, page, _message):
        at_once.append(page)
        most.append(len(at_once))
        await asyncio.sleep(0)
        at_once.remove(page)
        done.append(page)

    monkeypatch.setattr("console.shell.web.feed.Feed.show", show)
    viewer = await sync_to_async(make_user)("viewer", "viewer")
    websockets = [await connect(viewer, "topics") for _ in range(5)]
    for websocket in websockets:
        await websocket.send_text(json.dumps({"rows": []}))
    await eventually(lambda: len(done) == 5, "all are shown")
    assert max(most) == 1
    for websocket in websockets:
        await websocket.disconnect()


async def test_a_slow_reader_holds_a_bounded_queue_and_fetches_its_page_again():
    consumer = PageConsumer()
    consumer.waiting, consumer.wake = page_socket.deque(), page_socket.asyncio.Event()
    for number in range(page_socket.WAITING_MAX + 3):
        await consumer.push_html({"html": f"<p>{number}</p>"})

    assert len(consumer.waiting) == 3
    assert 'id="live-resync"' in consumer.waiting[0]


async def test_a_closed_page_leaves_its_groups():
    websocket = await connect(await sync_to_async(make_user)("viewer", "viewer"), "overview")
    assert groups.CLUSTER_OVERVIEW in get_channel_layer().groups
    await websocket.disconnect()

    assert groups.CLUSTER_OVERVIEW not in get_channel_layer().groups


def session_cookie(user: User) -> bytes:
    session = SessionStore()
    session["_auth_user_id"] = str(user.pk)
    session["_auth_user_backend"] = "django.contrib.auth.backends.ModelBackend"
    session["_auth_user_hash"] = user.get_session_auth_hash()
    session.save()
    return f"barnabas_session={session.session_key}".encode()


def headers_of(user: User, origin: bytes = b"http://127.0.0.1:8080", host: bytes = b"127.0.0.1:8080") -> list:
    return [(b"host", host), (b"origin", origin), (b"cookie", session_cookie(user))]


@pytest.mark.parametrize(
    ("origin", "host", "is_let_in"),
    [
        (b"http://127.0.0.1:8080", b"127.0.0.1:8080", True),
        (b"https://console.example", b"127.0.0.1:8080", True),  # trusted: a proxy that puts its own Host
        (b"http://evil.example", b"127.0.0.1:8080", False),
        (b"http://127.0.0.1:3000", b"127.0.0.1:8080", False),  # another program on this machine; cookies know no port
        (b"http://evil.example", b"evil.example", False),  # a name that was made to point here
        (b"null", b"127.0.0.1:8080", False),
        (b"http://[", b"127.0.0.1:8080", False),
        (b"", b"", False),
    ],
)
async def test_only_our_own_pages_may_open_a_websocket(settings, origin, host, is_let_in):
    settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS = ["127.0.0.1"], ["https://console.example"]
    user = await sync_to_async(make_user)("viewer", "viewer")
    websocket = Websocket(
        application, "/ws/live/", "page=overview", await sync_to_async(headers_of)(user, origin, host)
    )

    assert await websocket.connect() is is_let_in
    if is_let_in:
        await push(groups.CLUSTER_OVERVIEW, "<p>ours</p>")
        assert await websocket.receive_text() == "<p>ours</p>"
        await websocket.disconnect()


def test_the_processes_page_differs_by_right():
    assert groups.processes(True) in groups_for("processes", ROLES["operator"])
    assert groups.processes(False) in groups_for("processes", frozenset({Right.VIEW}))


def test_pages_of_rows_hear_of_them_through_the_feed_and_have_no_named_ones():
    assert groups_for("consumers", ROLES["viewer"]) == [groups.HEARTBEAT, groups.MARKS]
    assert groups_for("consumer-pages", ROLES["viewer"]) == [groups.HEARTBEAT, groups.MARKS, groups.CHARTS]
    assert groups_for("consumers:readers", ROLES["viewer"]) is None


def test_the_page_of_a_broker_hears_of_that_broker():
    assert groups_for("broker:7", ROLES["viewer"]) == [groups.HEARTBEAT, groups.MARKS, broker_group(7), groups.CHARTS]
    for nonsense in ("broker:", "broker:x", "broker:-1", "broker:²"):
        assert groups_for(nonsense, ROLES["viewer"]) is None


def test_a_group_name_fits_the_longest_topic_name():
    assert len(groups.topic("t" * 249)) < 100
    assert groups.topic("a" * 249) != groups.topic("a" * 248 + "b")
