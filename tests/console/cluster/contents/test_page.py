"""Counting over the websocket, and who sees what of it afterwards."""

import json

import pytest
from asgiref.sync import sync_to_async

from console.cluster.contents import socket as contents_socket
from console.cluster.contents import store
from console.cluster.contents.batches import told_of
from console.cluster.contents.counting import Contents
from console.cluster.contents.models import Counted
from console.cluster.contents.socket import ContentsConsumer
from console.cluster.records import reader_slots, socket
from console.kit.gateway.records.interface import RecordView
from console.kit.live.person_socket import CLOSE_FORBIDDEN
from console.state.clusters.models import Topic
from tests.console.websocket import Websocket

pytestmark = pytest.mark.django_db(transaction=True)
#: No time, offset or size on the page looks like it.
CARD = "card-of-somebody"


@pytest.fixture
def topic(cluster, db) -> str:
    cluster.create_topic("orders", 2, 3)
    for number in range(30):
        value = json.dumps({"id": number, "card": CARD}).encode() if number % 3 else None
        cluster.produce_record("orders", number % 2, b"customer-%d" % (number % 5), value, (("trace", b"<b>"),))
    Topic.objects.create(name="orders", partition_count=2)
    return "orders"


@pytest.fixture
def count():
    """await count(user, query): has the topic counted, as the page does; what was said last."""

    async def run(user, query: str = "count=1000") -> dict:
        websocket = Websocket(
            ContentsConsumer.as_asgi(), "/ws/contents/", f"topic=orders&mode=contents&{query}", user=user
        )
        assert await websocket.connect()
        message = json.loads(await websocket.receive_text())
        while not message.get("ended"):
            message = json.loads(await websocket.receive_text())
            await websocket.send_text('{"taken": 1}')
        await websocket.disconnect()
        return message

    return run


@pytest.fixture
def masked(settings, tmp_path):
    path = tmp_path / "masking.toml"
    path.write_text('[[rules]]\ntopics = "orders"\nmask = ["value.card"]\nseen_by = "admin"\n')
    path.chmod(0o600)
    settings.MASKING_FILE = path


async def test_what_was_counted_is_there_for_everybody_who_may_read(topic, reader, operator, client_of, count):
    message = await count(reader)
    assert message["ended"] == "end reached"
    assert "30 read" in message["status"]

    page = await shown(client_of, operator)
    assert f"by {reader.username}" in page
    assert "customer-4" in page
    assert "value.card" in page
    assert CARD in page
    assert "Without a value" in page


async def test_fewer_than_all_are_the_newest_of_each_partition(topic, reader, count, cluster):
    for number in range(3_000):
        cluster.produce_record(topic, 0, None, b"%d" % number)
    await count(reader)
    (kept,) = [counted async for counted in Counted.objects.all()]
    assert kept.profile["records"] == 1_000
    assert kept.profile["tombstones"] == 5  # all that partition 1 has


async def test_who_sees_less_is_not_shown_what_was_counted_by_who_sees_more(
    topic, administrator, reader, client_of, count, masked
):
    await count(administrator)
    page = await shown(client_of, reader)
    assert "No statistics yet" in page
    assert CARD not in page

    await count(reader)
    page = await shown(client_of, reader)
    assert "hidden" in page
    assert CARD not in page
    assert CARD in await shown(client_of, administrator)


async def test_nothing_is_kept_if_what_is_hidden_changes_while_it_is_read(topic, reader, count, masked, monkeypatch):
    hidden = contents_socket.hidden_from
    before = iter([("seen before",)])
    monkeypatch.setattr(contents_socket, "hidden_from", lambda *about: next(before, None) or hidden(*about))
    assert "was changed meanwhile" in (await count(reader))["error"]
    assert not [counted async for counted in Counted.objects.all()]


async def test_only_who_may_read_records_counts_them(topic, viewer, client_of):
    websocket = Websocket(ContentsConsumer.as_asgi(), "/ws/contents/", "topic=orders&mode=contents", user=viewer)
    assert await websocket.connect()
    assert await websocket.receive_close() == CLOSE_FORBIDDEN


def test_the_page_is_for_who_may_read_records(topic, viewer, client_of):
    assert client_of(viewer).get("/topics/orders/+contents/").status_code == 403


def test_names_in_records_are_text_on_the_page(topic, reader, client_of):
    contents = Contents("orders", 1)
    evil = "<script>alert(1)</script>"
    contents.add([RecordView(0, 0, 1, evil.encode(), json.dumps({evil: evil}).encode(), ((evil, b""),))])
    store.keep(
        reader, Topic.objects.get(), (), "the newest", "end reached", {**contents.as_json(), "batches": told_of([])}
    )
    page = client_of(reader).get("/topics/orders/+contents/").content.decode()
    assert "&lt;script&gt;" in page
    assert evil not in page


def test_a_topic_made_anew_has_nothing_of_the_one_before(topic, reader, client_of, cluster, collect):
    store.keep(
        reader,
        Topic.objects.get(),
        (),
        "the newest",
        "end reached",
        {**Contents("orders", 1).as_json(), "batches": told_of([])},
    )
    assert f"by {reader.username}" in client_of(reader).get("/topics/orders/+contents/").content.decode()
    cluster.delete_topic("orders")
    collect()
    cluster.create_topic("orders", 1, 1)
    collect()
    assert "No statistics yet" in client_of(reader).get("/topics/orders/+contents/").content.decode()


def test_what_is_kept_is_bounded_and_the_newest_stays(reader, monkeypatch):
    monkeypatch.setattr(store, "ROWS_MAX", 3)
    moments = iter(range(10))
    monkeypatch.setattr(store, "now_ms", lambda: next(moments))
    for number in range(5):
        store.keep(reader, Topic(name=f"topic-{number}"), (), "w", "e", {})
    store.keep(reader, Topic(name="topic-4"), (), "again", "e", {})
    assert [counted.topic for counted in Counted.objects.order_by("topic")] == ["topic-2", "topic-3", "topic-4"]
    assert store.kept(Topic(name="topic-4"), ()).window == "again"


async def test_a_reading_takes_a_slot_like_a_search(topic, reader, count, monkeypatch):
    monkeypatch.setattr(socket, "SLOTS", reader_slots.ReaderSlots(0))
    assert "in use" in (await count(reader))["error"]
    assert not [counted async for counted in Counted.objects.all()]


async def shown(client_of, user) -> str:
    answer = await sync_to_async(lambda: client_of(user).get("/topics/orders/+contents/"))()
    assert answer.status_code == 200
    return answer.content.decode()
