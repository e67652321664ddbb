"""Searching and following over the websocket: bounded, pausable, and only for who may look."""

import asyncio
import json
from urllib.parse import quote

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser

from console.cluster.records import socket, tail
from console.cluster.records.query import RecordQuery
from console.cluster.records.reader_slots import ReaderSlots
from console.cluster.records.socket import PAUSED_TOO_LONG, RecordsConsumer
from console.cluster.records.tail import TailReader
from console.kit.audit.models import Tally
from console.kit.live.person_socket import CLOSE_FORBIDDEN, CLOSE_LOGIN, CLOSE_UNKNOWN_PAGE
from console.state.clusters.models import Topic
from tests.console.websocket import Websocket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def topic(cluster, db) -> str:
    cluster.create_topic("orders", 2, 3)
    cluster.append("orders", 0, 300)
    Topic.objects.create(name="orders", partition_count=2)
    return "orders"


@pytest.fixture
def page():
    """page(user, mode, query): a websocket as the messages tab opens it; closed when the test ends."""
    return lambda user, mode, query="", topic="orders": Websocket(
        RecordsConsumer.as_asgi(), "/ws/records/", f"topic={topic}&mode={mode}&{query}", user=user
    )


async def next_of(websocket: Websocket) -> dict:
    message = json.loads(await websocket.receive_text())
    await websocket.send_text('{"taken": 1}')
    return message


async def begun(websocket: Websocket) -> Websocket:
    assert await websocket.connect()
    assert json.loads(await websocket.receive_text())["began"] == "yes"
    return websocket


async def until_over(websocket: Websocket) -> list[dict]:
    messages = [await next_of(websocket)]
    while not messages[-1].get("ended"):
        messages.append(await next_of(websocket))
    await websocket.disconnect()
    return messages


async def test_a_search_tells_what_it_found_and_why_it_stopped(topic, reader, page):
    messages = await until_over(await begun(page(reader, "search", "search=29&place=oldest")))

    rows = "".join(message["rows"] for message in messages)
    assert rows.count("<tr") == len([n for n in range(300) if "29" in str(n)])
    assert messages[-1]["ended"] == "end reached"
    assert messages[-1]["summary"] == "Searched all 300 records: 13 found."
    assert messages[-1]["offers"] == ""


async def test_a_search_says_before_how_much_it_may_read_and_where_it_ends(topic, reader, page):
    websocket = page(reader, "search", "search=29&place=oldest&limit=50")
    assert await websocket.connect()
    outlook = json.loads(await websocket.receive_text())["outlook"]
    assert outlook == "Searching 300 records at most. It ends at 50 found, 512 MB read or 60 s."
    await websocket.disconnect()


async def test_a_search_by_expression_finds_its_records_and_says_which_it_could_not_judge(topic, reader, page, cluster):
    cluster.produce_record("orders", 1, b"k", b'{"amount": 7}')
    query = f"place=oldest&searched=cel&search={quote('value.amount > 5')}"
    messages = await until_over(await begun(page(reader, "search", query)))

    assert "".join(message["rows"] for message in messages).count("<tr") == 1
    assert "could not be evaluated for 300, the first at partition 0 offset 0" in messages[-1]["status"]


async def test_a_wrong_expression_is_answered_by_what_is_wrong_with_it(topic, reader, page):
    websocket = page(reader, "search", f"searched=cel&search={quote('valeu.amount > 5')}")
    assert await websocket.connect()
    message = await next_of(websocket)
    assert "there is no name valeu" in message["error"]
    assert message["ended"] == "not searched on"
    await websocket.disconnect()


async def test_a_search_that_found_as_many_as_the_page_shows_says_where_to_go_on(topic, reader, page):
    messages = await until_over(await begun(page(reader, "search", "search=1&place=oldest&limit=25")))

    assert "".join(message["rows"] for message in messages).count("<tr") == 25
    assert messages[-1]["ended"] == "limit reached"
    assert (
        messages[-1]["summary"]
        == "Searched the oldest 106 of 300 records: 25 found. 194 newer records were not searched."
    )
    assert "Continue search: newer records" in messages[-1]["offers"]
    assert "place=oldest&amp;limit=25&amp;continued=on&amp;cursor=0%3A106%2C1%3A0" in messages[-1]["offers"]


async def test_a_tail_that_dropped_goes_on_where_it_was(topic, reader, page, cluster):
    websocket = page(reader, "tail")
    assert await websocket.connect()
    began = json.loads(await websocket.receive_text())
    await websocket.disconnect()
    cluster.produce_record(topic, 1, b"k", b"while nobody was connected")

    again = await begun(page(reader, "tail", f"cursor={began['cursor']}"))
    message = await next_of(again)
    assert "while nobody was connected" in message["rows"]
    assert message["cursor"] == "0:300,1:1"
    await again.disconnect()


def test_a_tail_is_resumed_no_further_than_the_end(cluster, topic):
    reader = TailReader(cluster, topic, 2, RecordQuery(cursor=((0, 10**9), (7, 3))))
    cluster.append(topic, 0, 1)
    assert [record.offset for record in reader.turn().records] == [300]
    reader.close()


async def test_the_tail_shows_what_arrives(topic, reader, page, cluster):
    websocket = await begun(page(reader, "tail"))
    cluster.produce_record(topic, 1, b"k", b"<b>first</b>")

    assert "&lt;b&gt;first" in (await next_of(websocket))["rows"]
    await websocket.disconnect()


async def test_a_paused_tail_reads_nothing_and_then_misses_nothing(topic, reader, page, cluster):
    websocket = await begun(page(reader, "tail"))
    await websocket.send_text('{"pause": true}')
    assert await nothing_comes(websocket)
    cluster.produce_record(topic, 1, b"k", b"meanwhile")
    assert await nothing_comes(websocket)

    await websocket.send_text('{"pause": false}')
    assert "meanwhile" in (await next_of(websocket))["rows"]
    await websocket.disconnect()


async def nothing_comes(websocket: Websocket) -> bool:
    return await websocket._communicator.receive_nothing(timeout=0.2, interval=0.05)


async def test_a_browser_that_takes_nothing_is_sent_nothing_more(topic, reader, page, cluster):
    websocket = await begun(page(reader, "tail"))
    for number in range(socket.UNTAKEN_MAX + 3):
        cluster.produce_record(topic, 1, b"k", b"%d" % number)
        if number < socket.UNTAKEN_MAX:
            await websocket.receive_text()
    assert await nothing_comes(websocket)

    await websocket.send_text('{"taken": 1}')
    assert (json.loads(await websocket.receive_text()))["rows"].count("<tr") >= 1
    await websocket.disconnect()


@pytest.mark.parametrize("message_text", ["", "[]", "{", "[" * 60_000, '{"taken": "x", "pause": 7}', "null"])
async def test_nonsense_from_the_page_does_no_harm(message_text, topic, reader, page, cluster):
    websocket = await begun(page(reader, "tail"))
    await websocket.send_text(message_text)
    cluster.produce_record(topic, 0, b"k", b"still here")

    rows = ""
    while "still here" not in rows:
        rows = (await next_of(websocket))["rows"]
    await websocket.disconnect()


@pytest.mark.parametrize(
    ("mode", "name", "code"),
    [("tail", "nowhere", CLOSE_UNKNOWN_PAGE), ("delete", "orders", CLOSE_UNKNOWN_PAGE), ("", "", CLOSE_UNKNOWN_PAGE)],
)
async def test_an_unknown_topic_or_mode_is_closed(mode, name, code, topic, reader, page):
    websocket = page(reader, mode, topic=name)
    await websocket.connect()
    assert await websocket.receive_close() == code


async def test_nobody_and_outsiders_read_nothing(topic, outsider, page):
    for user, code in ((AnonymousUser(), CLOSE_LOGIN), (outsider, CLOSE_FORBIDDEN)):
        websocket = page(user, "tail")
        await websocket.connect()
        assert await websocket.receive_close() == code


async def test_a_cluster_that_does_not_answer_is_told(topic, reader, page, cluster):
    cluster.cut_off()
    websocket = page(reader, "search", "search=x")
    await websocket.connect()
    (message,) = await until_over(websocket)
    assert message["error"] == "No broker answered in time."


async def test_no_more_readers_than_there_are_slots(topic, reader, page, monkeypatch):
    monkeypatch.setattr(socket, "SLOTS", ReaderSlots(slots_max=5, per_person_max=1))
    first = await begun(page(reader, "tail"))
    second = page(reader, "tail")
    await second.connect()
    assert "You have 1 readers open already" in (await until_over(second))[0]["error"]
    await first.disconnect()
    await (await begun(page(reader, "tail"))).disconnect()


async def test_a_page_that_stays_paused_gives_its_slot_to_others(topic, reader, page, monkeypatch):
    monkeypatch.setattr(socket, "SLOTS", ReaderSlots(slots_max=5, per_person_max=1))
    monkeypatch.setattr(socket, "PAUSE_SECONDS", 0.2)
    first = await begun(page(reader, "tail"))
    await first.send_text('{"pause": true}')
    assert (await until_over(first))[-1]["ended"] == PAUSED_TOO_LONG
    await (await begun(page(reader, "tail"))).disconnect()


async def test_who_may_see_a_topic_but_not_read_it_is_sent_nothing_of_it(topic, viewer, page):
    for mode in ("tail", "search"):
        websocket = page(viewer, mode, "search=1&place=oldest")
        await websocket.connect()
        assert await websocket.receive_close() == CLOSE_FORBIDDEN
    assert await sync_to_async(lambda: Tally.objects.get().times)() == 2


async def test_reading_is_counted_for_the_audit(topic, reader, page):
    await until_over(await begun(page(reader, "search", "search=29&place=oldest")))
    tally = await sync_to_async(Tally.objects.get)()
    assert (tally.action, tally.object_name, tally.actor_number) == ("read records", "orders", reader.pk)
    assert (tally.first_partition, tally.last_partition) == (0, 1)


def test_a_few_people_with_many_pages_leave_half_of_the_slots_to_others():
    slots = ReaderSlots(slots_max=16, per_person_max=4)
    greedy = [person for person in "abcd" for _ in range(4) if not slots.take(person)]

    assert len(greedy) == 8 + 2
    assert [slots.take(person) for person in "efgh"] == [""] * 4


def test_slots_are_counted_for_each_person_and_altogether():
    slots = ReaderSlots(slots_max=3, per_person_max=2)
    assert [bool(slots.take(person)) for person in ("a", "a", "a", "b", "c")] == [False, False, True, False, True]
    slots.give_back("a")
    assert slots.take("c") == ""


def test_a_tail_that_cannot_keep_up_goes_to_the_end_and_says_so(cluster, topic, monkeypatch):
    monkeypatch.setattr(tail, "TAIL_BEHIND_MAX", 500)
    reader = TailReader(cluster, topic, 2, RecordQuery())
    cluster.append(topic, 0, 1_000)
    turn = reader.turn()

    assert (len(turn.records), turn.skipped) == (tail.TAIL_RECORDS_PER_TURN, 900)
    assert reader.turn().records == ()
    reader.close()


def test_a_tail_ends_after_its_time(cluster, topic, clock):
    reader = TailReader(cluster, topic, 2, RecordQuery(), clock.now_ms)
    clock.advance(tail.TAIL_MILLISECONDS_MAX)
    assert reader.turn().ended == "followed for 30 minutes"


@pytest.mark.parametrize("mode", ["search&search=order&place=oldest", "tail"])
async def test_what_is_hidden_is_hidden_from_searches_and_the_tail(topic, reader, page, cluster, settings, mode):
    settings.MASKING_FILE.write_text('[[rules]]\ntopics = "orders"\nmask = ["value", "key"]\n')
    settings.MASKING_FILE.chmod(0o600)
    name, _, query = mode.partition("&")
    websocket = await begun(page(reader, name, query))
    if name == "tail":
        cluster.produce_record("orders", 1, b"k", b"secret-value")
        assert "secret-value" not in (await next_of(websocket))["rows"]
        await websocket.disconnect()
    else:
        messages = await until_over(websocket)
        assert "<tr" not in "".join(message["rows"] for message in messages)


def put_rules(path, text: str) -> None:
    """At once: what reads them meanwhile finds the old file or the new one."""
    draft = path.with_name("draft")
    draft.write_text(text)
    draft.chmod(0o600)
    draft.replace(path)


async def test_rules_that_get_stricter_hold_for_a_tail_that_runs(topic, reader, page, cluster, settings):
    websocket = await begun(page(reader, "tail"))
    cluster.produce_record("orders", 1, b"k", b"value-before")
    assert "value-before" in (await next_of(websocket))["rows"]
    put_rules(settings.MASKING_FILE, '[[rules]]\ntopics = "orders"\nmask = ["value", "key"]\n')
    cluster.produce_record("orders", 1, b"k", b"value-behind")
    rows = (await next_of(websocket))["rows"]
    assert "\u2022\u2022\u2022" in rows
    assert "value-behind" not in rows
    put_rules(settings.MASKING_FILE, "nonsense")
    cluster.produce_record("orders", 1, b"k", b"value-at-last")
    message = await next_of(websocket)
    assert "value-at-last" not in message.get("rows", "")
    assert "rules of masking.toml cannot be used" in message["error"]
    await websocket.disconnect()


async def test_a_tail_of_an_internal_topic_is_for_administrators(cluster, reader, administrator, page):
    cluster.create_topic("connect-status", 1, 1)
    await sync_to_async(Topic.objects.create)(name="connect-status", partition_count=1)
    websocket = page(reader, "tail", topic="connect-status")
    await websocket.connect()
    assert await websocket.receive_close() == CLOSE_FORBIDDEN
    await (await begun(page(administrator, "tail", topic="connect-status"))).disconnect()


async def test_a_live_tail_looks_at_the_right_within_seconds_though_no_message_of_the_change_came(
    topic, reader, page, cluster, monkeypatch
):
    """The right is taken behind the console's back: as when the message of it was lost."""
    waited: list[float] = []
    really = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds, *rest: waited.append(seconds) or really(0.01, *rest))
    websocket = await begun(page(reader, "tail"))
    await sync_to_async(reader.groups.clear)()
    assert await websocket.receive_close() == CLOSE_FORBIDDEN
    assert max(waited) <= 2
