"""An export has every record of its range, however many; it ends with the person's rights, and leaves no slot taken."""

import asyncio
import base64
import csv
import gzip
import io
import json
import math
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Group

from console.cluster.records import record_export, search
from console.cluster.records.query import RecordQuery
from console.cluster.records.reader_slots import ReaderSlots
from console.cluster.records.record_export import Export, ExportEndedError
from console.kit.audit.models import Tally
from console.shell.web import streamed_files
from console.shell.web.streamed_files import StreamEndedError
from console.state.clusters.models import Topic

ADDRESS = "/topics/orders/+records/export/"


@pytest.fixture
def slots(monkeypatch) -> ReaderSlots:
    slots = ReaderSlots(slots_max=1)
    monkeypatch.setattr(record_export, "SLOTS", slots)
    return slots


@pytest.fixture
def request_of(rf, reader, monkeypatch):
    """Without a session, which is looked at again while records are exported."""
    monkeypatch.setattr(record_export, "RECHECK_SECONDS", math.inf)
    request = rf.get(ADDRESS)
    request.user, request.session = reader, None
    return request


@pytest.fixture
def topic(cluster, collect, slots) -> Topic:
    cluster.create_topic("orders", 2, 3)
    cluster.append("orders", 0, 700)
    cluster.append("orders", 1, 600)
    collect()
    return Topic.objects.get(name="orders")


@pytest.fixture
def ask(reader, client_of, topic):
    client = client_of(reader)
    return lambda query="", address=ADDRESS: client.get(f"{address}{query}")


def lines(response) -> list[dict]:
    return [json.loads(line) for line in b"".join(response.streaming_content).decode().splitlines()]


def places(lines: list[dict]) -> list[tuple[int, int]]:
    return sorted((int(line["partition"]), int(line["offset"])) for line in lines)


def test_every_record_of_a_topic_is_in_the_file(ask, slots):
    response = ask("?format=jsonl")
    assert response["Content-Disposition"] == 'attachment; filename="records-orders.jsonl"'
    assert places(lines(response)) == [(0, n) for n in range(700)] + [(1, n) for n in range(600)]
    assert slots.take("another") == ""
    assert Tally.objects.get().action == "read records"


def test_no_file_has_a_limit_of_records(ask, monkeypatch):
    monkeypatch.setattr("console.kit.common.csv_table.ROWS_MAX", 10)
    monkeypatch.setattr(search, "SEARCH_MILLISECONDS", 0)
    monkeypatch.setattr(search, "SEARCH_BYTES_MAX", 0)
    text = b"".join(ask("?format=csv").streaming_content).decode()
    assert len(list(csv.DictReader(io.StringIO(text)))) == 1_300
    assert len(lines(ask("?format=jsonl&search=7&limit=25", address="/topics/orders/+records/"))) == 247


def test_what_is_held_is_bounded_however_large_the_range(topic, request_of, monkeypatch):
    monkeypatch.setattr(search, "HELD_BYTES_MAX", 100)
    export = Export(request_of, topic, RecordQuery(place="oldest"), "jsonl")
    pieces = export.pieces()
    first = next(pieces)
    assert 0 < len(first.splitlines()) <= 1_000
    assert len("".join(pieces).splitlines()) + len(first.splitlines()) == 1_300
    export.close()


def test_a_range_of_time_and_a_partition_are_exported_and_counted_before(ask, cluster, clock):
    def moment() -> str:
        return datetime.fromtimestamp(clock.now_ms() / 1000, UTC).isoformat().replace("+", "%2B")

    clock.advance(60_000)
    since = moment()
    cluster.append("orders", 0, 5)
    clock.advance(60_000)
    until = moment()
    cluster.append("orders", 0, 7)
    chosen = f"place=time&moment={since}&until={until}"
    count = ask(f"?{chosen}", address=f"{ADDRESS}count/").content.decode()
    assert 'data-count="5">5 records at most' in count
    assert places(lines(ask(f"?format=jsonl&{chosen}"))) == [(0, n) for n in range(700, 705)]
    assert 'data-count="0">0 records' in ask(f"?{chosen}&partition=1", address=f"{ADDRESS}count/").content.decode()


def test_the_last_minutes_are_counted_from_now(ask, cluster, clock, monkeypatch):
    clock.advance(600_000)
    monkeypatch.setattr("console.cluster.records.query.now_ms", clock.now_ms)
    cluster.append("orders", 1, 3)
    assert 'data-count="3"' in ask("?last=5m", address=f"{ADDRESS}count/").content.decode()
    assert places(lines(ask("?format=jsonl&last=5m"))) == [(1, n) for n in range(600, 603)]


def test_what_a_search_matches_is_exported(ask):
    result = lines(ask("?format=jsonl&search=699&searched=value"))
    assert places(result) == [(0, 699)]


def test_the_file_says_what_the_page_shows_however_it_was_packed(cluster, collect, reader, client_of, slots):
    cluster.create_topic("packed", 1, 1)
    document = b'{"status":"PAID"}'
    values = (gzip.compress(document), b"\x81\xa6status\xa4PAID", b"\xa1fstatusdPAID", document)
    for value in (*values, gzip.compress(document) + gzip.compress(b"more")):
        cluster.produce_record("packed", 0, None, value)
    collect()
    address = "/topics/packed/+records/export/"
    *first, last = lines(client_of(reader).get(f"{address}?format=jsonl"))
    assert [config["value"] for config in first] == [{"status": "PAID"}] * 4
    assert gzip.decompress(base64.b64decode(last["value"]["base64"])) == document + b"more"
    text = b"".join(client_of(reader).get(f"{address}?format=csv&last=").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [json.loads(row["value"]) for row in rows[:4]] == [{"status": "PAID"}] * 4


def test_a_long_text_is_whole_in_a_file_and_a_piece_is_not_much_longer_than_its_bound(
    cluster, collect, reader, client_of, slots, monkeypatch
):
    cluster.create_topic("long", 1, 1)
    for _ in range(5):
        cluster.produce_record("long", 0, None, b"x" * 400_000)
    collect()
    response = client_of(reader).get("/topics/long/+records/export/?format=csv")
    pieces = list(response.streaming_content)
    assert [piece.count(b"x") for piece in pieces if b"x" in piece] == [400_000] * 5
    assert b"cut" not in b"".join(pieces)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_what_is_hidden_is_hidden_from_the_file_and_from_its_search(ask, settings, form):
    settings.MASKING_FILE.write_text('[[rules]]\ntopics = "orders"\nmask = ["value"]\n')
    settings.MASKING_FILE.chmod(0o600)
    text = b"".join(ask(f"?format={form}&partition=0").streaming_content).decode()
    assert text.count("•••") == 700
    assert b"".join(ask("?format=jsonl&search=699").streaming_content) == b""


def test_rules_that_get_stricter_hold_for_the_rest_of_the_file(ask, settings, monkeypatch):
    monkeypatch.setattr(search, "WINDOW_FIRST", 20)
    pieces = iter(ask("?format=jsonl&partition=0").streaming_content)
    assert "•••" not in next(pieces).decode()
    settings.MASKING_FILE.write_text('[[rules]]\ntopics = "orders"\nmask = ["value"]\n')
    settings.MASKING_FILE.chmod(0o600)
    rest = b"".join(pieces).decode()
    assert rest.count("•••") == rest.count("\n")


def test_a_person_who_loses_the_role_is_sent_nothing_more(ask, reader, monkeypatch, slots):
    monkeypatch.setattr(record_export, "RECHECK_SECONDS", 0)
    monkeypatch.setattr(search, "WINDOW_FIRST", 20)
    pieces = iter(ask("?format=jsonl").streaming_content)
    assert next(pieces)
    reader.groups.set([Group.objects.get(name="viewer")])
    with pytest.raises(ExportEndedError, match="rights changed"):
        b"".join(pieces)
    assert slots.take("another") == ""


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_the_rest_of_a_window_is_not_sent_to_a_person_who_lost_the_role(ask, reader, monkeypatch, slots, form):
    """All 700 records are in one window: without a look between its pieces all of them would still be sent."""
    monkeypatch.setattr(streamed_files, "RECHECK_SECONDS", 0)
    monkeypatch.setattr(record_export, "PIECE_LENGTH", 1)
    response = ask(f"?format={form}&partition=0")
    pieces = (piece for piece in response.streaming_content if piece)
    assert next(pieces)
    assert next(pieces)
    reader.groups.set([Group.objects.get(name="viewer")])
    with pytest.raises(StreamEndedError, match="rights changed"):
        next(pieces)
    response.close()
    assert slots.take("another") == ""


def test_a_file_that_is_called_off_gives_its_slot_back(ask, slots, monkeypatch):
    monkeypatch.setattr(search, "WINDOW_FIRST", 20)
    response = ask("?format=jsonl")
    next(iter(response.streaming_content))
    assert slots.take("another") != ""
    response.close()
    assert slots.take("another") == ""


def test_who_wants_the_headers_alone_has_no_record_read(topic, reader, client_of, slots, cluster, monkeypatch):
    monkeypatch.setattr(cluster, "open_records", lambda *arguments: pytest.fail("a record was read"))
    response = client_of(reader).head(f"{ADDRESS}?format=jsonl")
    assert (response.status_code, b"".join(response.streaming_content)) == (200, b"")
    assert slots.take("another") == ""


def test_a_file_that_is_never_sent_gives_its_slot_back(topic, request_of, slots):
    response = record_export.export_response(request_of, topic, RecordQuery(), "jsonl")
    assert slots.take("another") != ""
    del response
    assert slots.take("another") == ""


def test_a_file_takes_a_slot_as_a_search_does(ask, slots):
    slots.take("another")
    response = ask("?format=jsonl")
    assert response.status_code == 429
    assert "in use" in response.content.decode()


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("?format=xml", 400, "Choose a format: jsonl or csv."),
        ("?format=csv&searched=cel&search=nonsense(", 400, "The expression cannot be read"),
    ],
)
def test_what_cannot_be_exported_is_told_and_takes_no_slot(ask, slots, query, status, sentence):
    response = ask(query)
    assert response.status_code == status
    assert sentence in response.content.decode()
    assert slots.take("another") == ""


def test_a_cluster_that_does_not_answer_is_told_before_anything_is_sent(ask, cluster, slots):
    cluster.cut_off()
    assert ask("?format=jsonl").status_code == 503
    assert "No broker answered in time." in ask("", address=f"{ADDRESS}count/").content.decode()
    assert slots.take("another") == ""


@pytest.mark.parametrize("address", [f"{ADDRESS}?format=jsonl", f"{ADDRESS}count/"])
def test_who_may_not_read_records_exports_and_counts_none(viewer, outsider, client_of, topic, address):
    for person in (viewer, outsider):
        assert client_of(person).get(address).status_code == 403


class Pieces:
    """Ten pieces, and whether they were closed."""

    def __init__(self):
        self.left, self.closed = 10, 0

    def take(self) -> str:
        if self.closed:
            raise ExportEndedError("closed")
        if not self.left:
            raise StopIteration
        self.left -= 1
        return "piece"

    def close(self) -> None:
        self.closed += 1


async def test_a_browser_that_goes_ends_the_export():
    pieces = Pieces()
    stream = record_export._stream(pieces.take, pieces.close)
    assert await anext(stream) == "piece"
    await stream.aclose()
    assert (pieces.closed, pieces.left) == (1, 9)


async def test_the_whole_file_comes_and_is_closed_once_it_has():
    pieces = Pieces()
    assert [piece async for piece in record_export._stream(pieces.take, pieces.close)] == ["piece"] * 10
    assert pieces.closed == 1


async def test_a_browser_that_takes_nothing_loses_its_slot(monkeypatch):
    monkeypatch.setattr(record_export, "STALL_SECONDS", 0)
    pieces = Pieces()
    stream = record_export._stream(pieces.take, pieces.close)
    await anext(stream)
    async with asyncio.timeout(60):
        while not pieces.closed:
            await asyncio.sleep(0)
    with pytest.raises(ExportEndedError):
        await anext(stream)


def test_partitions_without_a_leader_are_named_in_the_last_line(cluster, reader, client_of, slots):
    for broker_id in (1, 2):
        cluster.stop_broker(broker_id)
    cluster.create_topic("alone", 1, 1)
    cluster.start_broker(1)
    cluster.stop_broker(3)
    Topic.objects.create(name="alone", partition_count=1)
    result = lines(client_of(reader).get("/topics/alone/+records/export/?format=jsonl"))
    assert result == [{"incomplete": "Incomplete: Partitions without a leader: 0."}]
