"""The messages tab and the page of one record."""

import csv
import gzip
import io
import json
import re
from datetime import UTC, datetime

import pytest

from console.cluster.records import json_layout, presenters, text
from console.cluster.records.columns import parse_document
from console.cluster.records.query import RecordQuery
from console.cluster.records.reading import read_page
from console.kit.audit.models import Tally
from console.state.clusters.models import Topic

EVIL = b"<script>alert(1)</script>"


@pytest.fixture
def topic(cluster, collect) -> Topic:
    cluster.create_topic("orders", 2, 3)
    cluster.append("orders", 0, 60)
    cluster.append("orders", 1, 60)
    collect()
    return Topic.objects.get(name="orders")


@pytest.fixture
def ask(reader, client_of, topic):
    client = client_of(reader)

    def get(query: str = ""):
        return client.get(f"/topics/orders/+records/{query}")

    return get


def places(response) -> list[tuple[int, int]]:
    return [(record.record.partition, record.record.offset) for record in response.context["records"]]


def test_the_newest_come_first_and_pages_lead_to_the_oldest_without_a_gap(ask):
    seen, response = [], ask("?limit=50")
    while True:
        seen += places(response)
        if not (cursor := response.context["page"].cursor):
            break
        response = ask(f"?limit=50&cursor={cursor}")
    assert seen[0] in ((0, 59), (1, 59))
    assert sorted(seen) == [(partition, offset) for partition in (0, 1) for offset in range(60)]
    assert response.context["page"].stop == "end reached"


def test_the_oldest_come_first_and_pages_lead_to_the_end(ask):
    seen, response = [], ask("?place=oldest&limit=25")
    while cursor := response.context["page"].cursor:
        seen += places(response)
        assert response.context["page"].stop == "limit reached"
        response = ask(f"?place=oldest&limit=25&cursor={cursor}")
    seen += places(response)
    assert sorted(seen) == [(partition, offset) for partition in (0, 1) for offset in range(60)]


def test_a_page_begins_at_an_offset_of_one_partition(ask):
    assert places(ask("?place=offset&partition=1&offset=57")) == [(1, 57), (1, 58), (1, 59)]
    assert places(ask("?place=offset&partition=1&offset=99999")) == []


def test_a_command_is_shown_where_it_shows_the_same(ask):
    assert "kafka-console-consumer" in ask("?place=oldest").context["command"]
    assert ask("?last=5m").context["command"] == ""
    assert "As a command" not in ask("?until=2026-01-01T00:00Z").content.decode()


def test_a_page_begins_at_a_moment(ask, cluster, clock):
    clock.advance(60_000)
    cluster.append("orders", 0, 2)
    moment = datetime.fromtimestamp(clock.now_ms() / 1000, UTC).isoformat().replace("+", "%2B")
    assert places(ask(f"?place=time&moment={moment}")) == [(0, 60), (0, 61)]


def test_a_range_bounds_a_page_that_begins_at_an_offset(ask, cluster, clock):
    clock.advance(60_000)
    cluster.append("orders", 0, 2)
    moment = datetime.fromtimestamp(clock.now_ms() / 1000, UTC).isoformat().replace("+", "%2B")
    assert places(ask(f"?from={moment}")) == [(0, 60), (0, 61)]
    assert places(ask(f"?place=offset&offset=3&partition=0&from={moment}")) == [(0, 60), (0, 61)]
    assert places(ask(f"?place=offset&offset=61&partition=0&from={moment}")) == [(0, 61)]


def test_the_newest_within_a_range_come_first(ask, cluster, clock):
    begins = datetime.fromtimestamp(clock.now_ms() / 1000 + 60, UTC).isoformat().replace("+", "%2B")
    clock.advance(60_000)
    cluster.append("orders", 0, 30)
    newest = ask(f"?place=newest&from={begins}")
    assert places(newest) == [(0, offset) for offset in range(89, 64, -1)]
    assert '<option value="newest" selected>' in newest.content.decode()
    older = ask(f"?place=newest&from={begins}&cursor={newest.context['page'].cursor}")
    assert places(older) == [(0, offset) for offset in range(64, 59, -1)]
    assert older.context["page"].cursor == ""
    from_there_on = ask(f"?from={begins}")
    assert places(from_there_on)[0] == (0, 60)
    assert '<option value="oldest" selected>' in from_there_on.content.decode()


def test_a_time_before_1970_is_no_name_of_a_place_in_the_log(ask, cluster, monkeypatch):
    times, offsets_at = [], cluster.offsets_at
    monkeypatch.setattr(
        cluster, "offsets_at", lambda topic, at_ms, of: times.append(at_ms) or offsets_at(topic, at_ms, of)
    )
    assert len(places(ask("?from=1969-12-31T23:59:59.999Z"))) == 25
    assert times == [0]


def test_a_partition_that_does_not_exist_holds_nothing(ask):
    assert places(ask("?partition=77")) == []


def test_partitions_without_a_leader_are_named(ask, cluster):
    for broker_id in (1, 2):
        cluster.stop_broker(broker_id)
    cluster.create_topic("alone", 1, 1)
    cluster.start_broker(1)
    cluster.stop_broker(3)
    Topic.objects.create(name="alone", partition_count=1)
    response = ask().client.get("/topics/alone/+records/")
    assert "Partition 0 has no leader that answers" in re.sub(r"\s+", " ", response.content.decode())


def test_a_cluster_that_does_not_answer_is_told_on_the_page(ask, cluster):
    cluster.cut_off()
    response = ask()
    assert response.status_code == 200
    assert "No broker answered in time." in response.content.decode()


def test_what_is_in_a_record_is_text_and_nothing_else(ask, cluster):
    cluster.produce_record("orders", 0, EVIL, EVIL, ((EVIL.decode(), EVIL),))
    for response in (ask(), ask().client.get("/topics/orders/+records/0/60/")):
        text = response.content.decode()
        assert "<script>alert" not in text
        assert text.count("&lt;script&gt;alert") >= 3


def test_a_record_has_an_address_with_every_view_and_its_bytes(ask, cluster):
    cluster.produce_record("orders", 1, b"\x00\xff", b'{"a": 1}')
    client = ask().client
    text = client.get("/topics/orders/+records/1/60/?shown=hex").content.decode()
    assert "00 ff" in text
    assert "7b 22 61" in text
    raw = client.get("/topics/orders/+records/1/60/?part=value")
    assert (raw.content, raw["Content-Type"]) == (b'{"a": 1}', "application/octet-stream")
    assert raw["Content-Disposition"].startswith("attachment;")


@pytest.mark.parametrize("place", ["0/60", "5/0", "0/99999999999999999999999"])
def test_where_no_record_is_the_page_says_so(place, ask):
    response = ask().client.get(f"/topics/orders/+records/{place}/")
    assert response.status_code == 404
    assert "holds no record at offset" in response.content.decode()


def test_records_are_a_file_with_formulas_defused(ask, cluster):
    cluster.produce_record("orders", 0, b"=1+1", None)
    response = ask("?partition=0&limit=25&format=csv")
    titles, first, *_ = csv.reader(io.StringIO(b"".join(response.streaming_content).decode()))
    row = dict(zip(titles, first, strict=True))
    assert (row["offset"], row["key"], row["value"]) == ("60", "'=1+1", "")


def test_a_search_is_left_to_the_websocket(ask):
    response = ask("?search=5&place=oldest")
    assert response.context["page"] is None
    assert 'data-mode="search"' in response.content.decode()


def file_of(response) -> list[dict]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def test_what_a_search_found_is_a_file_of_all_of_it(ask):
    response = ask("?search=5&place=oldest&limit=25&format=csv")
    values = [config["value"] for config in file_of(response)]
    assert sorted(values) == sorted([str(n) for n in range(60) if "5" in str(n)] * 2)
    assert 'filename="records-orders-found.csv"' in response["Content-Disposition"]
    assert Tally.objects.get().action == "read records"


def test_the_page_of_a_search_offers_its_export(ask):
    text = ask("?search=5&searched=value").content.decode()
    assert 'href="#export"' in text
    assert 'name="search" value="5" checked' in text


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?place=moment", "place=moment is not known and is ignored. Known values: newest, oldest, offset, time."),
        ("?searched=expression&search=x", "searched=expression is not known and is ignored. Known values: any, key,"),
        ("?limit=77", "limit=77 is not known"),
        ("?moment=yesterday", "moment=yesterday is not a time, and is ignored. Write it with its zone"),
        ("?partition=first", "partition=first is not a number"),
        ("?cursor=nonsense", "The cursor is not one of this page"),
        ("?serch=x", "The parameter serch is not known and is ignored."),
        ("?place=%3Cscript%3E", "place=&lt;script&gt; is not known"),
    ],
)
def test_what_an_address_names_that_is_not_known_is_told(ask, query, sentence):
    assert sentence in ask(query).content.decode()


def test_an_address_that_is_understood_has_no_word_said_of_it(ask):
    query = "?place=time&moment=2024-01-01T00:00Z&until=&partition=1&limit=50&shown=hex&search=&column=value.a"
    assert ask(query).context["query"].problems == ()
    assert "is ignored" not in ask("?last=5m&uncommitted=on&searched=cel").content.decode()


def test_what_is_set_of_the_filters_is_a_chip_that_leads_to_the_page_without_it(ask):
    chips = ask("?place=offset&offset=5&partition=1&shown=hex&uncommitted=on&cursor=1:7").context["chips"]
    assert [chip.text for chip in chips] == ["from offset 5", "partition 1", "deserializer hex", "read_uncommitted"]
    assert chips[1].without == "place=offset&offset=5&shown=hex&uncommitted=on"


def test_times_have_milliseconds_in_the_list_and_beside_it(ask, cluster, clock):
    clock.advance(123)
    cluster.append("orders", 0, 1)
    at = datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
    shown = f"{at:%Y-%m-%d %H:%M:%S}.123"
    assert f">{shown} UTC</time>" in ask("?partition=0").content.decode()
    assert f">{shown} UTC</time>" in ask("0/60/").content.decode()


def test_a_page_ends_before_the_time_it_is_bounded_by(ask, cluster, clock):
    clock.advance(60_000)
    moment = datetime.fromtimestamp(clock.now_ms() / 1000, UTC).isoformat().replace("+", "%2B")
    cluster.append("orders", 0, 2)
    assert places(ask(f"?until={moment}&partition=0&limit=25"))[0] == (0, 59)
    response = ask(f"?place=offset&offset=50&partition=0&until={moment}")
    assert places(response) == [(0, n) for n in range(50, 60)]
    assert response.context["page"].cursor == ""


def test_a_long_record_is_shown_whole_for_the_asking(ask, cluster):
    document = json.dumps({f"key-{n}": n for n in range(10_000)}).encode()
    cluster.produce_record("orders", 1, b"k", document)
    client = ask().client
    cut = client.get("/topics/orders/+records/1/60/").content.decode()
    assert "Show all" in cut
    assert "&quot;key-1&quot;: 1,\n" in cut
    assert "key-9999" not in cut
    whole = client.get("/topics/orders/+records/1/60/?whole=on").content.decode()
    assert "&quot;key-9999&quot;: 9999" in whole
    assert "Show all" not in whole
    tree = client.get("/topics/orders/+records/1/60/?shown=tree").content.decode()
    assert "key-9999" in tree
    assert 'class="log json-tree"' in tree


def test_an_outsider_reads_no_record(outsider, client_of, topic):
    for address in ("/topics/orders/+records/", "/topics/orders/+records/0/0/"):
        assert client_of(outsider).get(address).status_code == 403


def test_a_page_of_the_newest_that_broke_off_leads_to_no_older_one(cluster, topic, monkeypatch):
    monkeypatch.setattr("console.cluster.records.reading.PAGE_BYTES_MAX", 0)
    page = read_page(cluster, "orders", 2, RecordQuery(limit=25))
    assert (page.stop, page.cursor) == ("byte budget used", "")
    oldest = read_page(cluster, "orders", 2, RecordQuery(place="oldest", limit=25))
    assert oldest.cursor


@pytest.mark.parametrize("at_ms", [253_433_836_800_000, 2**62])
def test_a_record_of_a_time_that_no_calendar_has_is_shown_with_the_others(ask, cluster, clock, at_ms):
    """A producer may write any number of 64 bits, and one such record must not hide the topic's others."""
    now_ms = clock.now_ms()
    clock.advance(at_ms - now_ms)
    cluster.produce_record("orders", 0, b"key", b"of no time")
    clock.advance(now_ms - at_ms)
    assert f"{at_ms} ms since 1970" in ask().content.decode()
    assert f"{at_ms} ms since 1970" in ask("0/60/").content.decode()
    assert f',"{at_ms}","key","of no time",' in b"".join(ask("?format=csv")).decode()
    assert "offsets by time" in ask("histogram/").content.decode()


def test_records_written_since_the_last_collection_have_their_histogram(reader, client_of, cluster, collect):
    cluster.create_topic("empty", 1, 3)
    collect()
    cluster.append("empty", 0, 3)
    page = client_of(reader).get("/topics/empty/+records/?place=oldest").content.decode()
    assert page.count('class="histogram"') == 1


def test_the_first_day_of_the_calendar_in_a_zone_before_utc_is_no_moment(ask):
    assert ask("?place=time&moment=0001-01-01T00:00:00%2B14:00").status_code == 200


@pytest.fixture
def orders_as_json(cluster, collect, reader, client_of):
    """Thirty orders as JSON objects, and two records that are none."""
    cluster.create_topic("bought", 1, 1)
    for number in range(30):
        value = {"order_id": number, "status": "PAID", "buyer": {"city": "Graz"}, **({"gift": 1} if number < 3 else {})}
        cluster.produce_record("bought", 0, b"k%d" % number, json.dumps(value).encode())
    cluster.produce_record("bought", 0, None, b"plain text")
    cluster.produce_record("bought", 0, b"k1", None)
    collect()
    return lambda query="": client_of(reader).get(f"/topics/bought/+records/{query}")


def test_json_values_are_columns_unless_columns_are_picked_or_refused(orders_as_json):
    page = orders_as_json("?place=oldest")
    assert page.context["picked"] == ["value.order_id", "value.status", "value.buyer.city"]
    assert page.context["records"][7].cells == ["7", "PAID", "Graz"]
    assert orders_as_json("?column=value.gift").context["picked"] == ["value.gift"]
    refused = orders_as_json("?columns=none")
    assert refused.context["picked"] == []
    assert re.search(r'name="columns" value="none" checked', refused.content.decode())
    assert not refused.context["query"].problems


def test_a_search_that_is_begun_on_the_page_keeps_its_columns(orders_as_json):
    box = '<input type="checkbox" name="default_column" value="value.status" checked>'
    assert box in orders_as_json("?place=oldest").content.decode()
    begun = orders_as_json("?search=PAID&default_column=value.status")
    assert begun.context["picked"] == ["value.status"]
    assert not begun.context["query"].problems
    assert box in begun.content.decode()


def test_the_choice_of_no_default_columns_drops_those_that_the_form_sends_with_it(orders_as_json):
    page = orders_as_json("?columns=none&default_column=value.order_id&default_column=value.status")
    assert page.context["picked"] == []
    assert orders_as_json("?columns=none&default_column=value.status&column=value.gift").context["picked"] == [
        "value.gift"
    ]


def test_values_that_are_no_json_or_too_many_bytes_get_no_columns(ask, orders_as_json, monkeypatch):
    assert ask().context["picked"] == []
    monkeypatch.setattr(presenters, "DEFAULT_COLUMNS_BYTES_MAX", 100)
    assert orders_as_json("?place=oldest").context["picked"] == []


def test_a_file_has_no_column_that_was_not_picked(orders_as_json):
    text = b"".join(orders_as_json("?place=oldest&format=csv").streaming_content).decode()
    assert "value.order_id" not in text.splitlines()[0]


def test_the_drawer_links_to_its_partition_and_offset(orders_as_json, reader, client_of):
    headers = {"HX-Request": "true", "HX-Target": "record-drawer"}
    text = client_of(reader).get("/topics/bought/+records/0/3/", headers=headers).content.decode()
    assert re.search(r'<h2><a href="/topics/bought/\+records/0/3/\?shown=auto"[^>]*>Partition 0, offset 3</a>', text)
    assert 'data-copy-link="/topics/bought/+records/0/3/?shown=auto"' in text


def test_half_of_a_character_in_a_record_ends_neither_its_page_nor_a_file(cluster, collect, reader, client_of):
    cluster.create_topic("halves", 1, 1)
    value = rb'{"status": "\ud800", "buyer": {"city": ["\udfff"]}, "k\ud800": "\\\ud800"}'
    cluster.produce_record("halves", 0, value, value, (("trace", value),))
    collect()
    client = client_of(reader)
    columns = "&".join(f"column={path}" for path in ("value.buyer", "key.status", "headers.trace.status"))
    for query in ("", f"?{columns}", "?shown=tree", f"?format=csv&{columns}", "?format=jsonl"):
        response = client.get(f"/topics/halves/+records/{query}")
        assert response.status_code == 200
        b"".join(response.streaming_content if response.streaming else [response.content])
    page = client.get(f"/topics/halves/+records/?{columns}")
    assert page.context["records"][0].cells == ['{"city": ["\ufffd"]}', "\ufffd", "\ufffd"]


def test_a_page_parses_no_more_json_than_its_budget_however_little_it_weighs(
    cluster, collect, reader, client_of, monkeypatch
):
    """300 bytes of gzip are 256 KB of JSON, and those some 9 MB once they are parsed."""
    cluster.create_topic("bombs", 1, 1)
    bomb = gzip.compress(b'{"status": "PAID", "a": [' + b",".join([b"[]"] * 10_000) + b"]}")
    for _ in range(30):
        cluster.produce_record("bombs", 0, bomb, bomb, (("trace", b'{"id": 7}'),))
    collect()
    parsed: list[int] = []

    def parse(text: str) -> object:
        parsed.append(len(text))
        return parse_document(text)

    monkeypatch.setattr(presenters, "parse_document", parse)
    monkeypatch.setattr(presenters, "PAGE_DOCUMENTS_LENGTH_MAX", 100_000)
    page = client_of(reader).get("/topics/bombs/+records/?column=value.status&column=headers.trace.id&place=oldest")
    cells = [shown.cells for shown in page.context["records"]]
    assert sum(parsed) <= 100_000
    assert cells[0] == ["PAID", "7"]
    assert cells[-1][0] == "… (not parsed: the JSON of this page is too large)"


def test_the_rows_of_a_page_lay_out_no_more_than_its_budget_however_little_it_weighs(
    cluster, collect, reader, client_of, monkeypatch
):
    """200 records of 300 bytes, packed by gzip, with keys and headers were a gigabyte of JSON to parse."""
    cluster.create_topic("packed", 1, 1)
    packed = gzip.compress(b'{"a": [' + b",".join([b"[]"] * 10_000) + b"]}")
    for _ in range(20):
        cluster.produce_record("packed", 0, packed, packed, (("trace", packed),) * 5)
    collect()
    checked: list[int] = []

    def is_document(written: str) -> bool:
        checked.append(len(written))
        return json_layout.is_document(written)

    monkeypatch.setattr(text, "is_document", is_document)
    monkeypatch.setattr(presenters, "PAGE_TEXTS_BYTES_MAX", 100_000)
    page = client_of(reader).get("/topics/packed/+records/?place=oldest&columns=none")
    first, *_, last = page.context["records"]
    assert page.content.count(b"not parsed") > 0
    assert sum(checked) <= 100_000
    assert (first.key.kind, last.value.kind) == ("json", "string")
    assert last.value.text.startswith('{"a": [[],[]')


def test_of_very_many_headers_some_are_shown_and_the_others_counted(cluster, collect, reader, client_of):
    cluster.create_topic("headers", 1, 1)
    cluster.produce_record("headers", 0, b"k", b"v", tuple(("trace", b"%d" % n) for n in range(10_000)))
    collect()
    client = client_of(reader)
    page = client.get("/topics/headers/+records/").content.decode()
    assert ("and 9\u202f980 more headers" in page, page.count(">trace<")) == (True, 20)
    record = client.get("/topics/headers/+records/0/0/").content.decode()
    assert ("9\u202f500 more headers are not shown" in record, record.count(">trace<")) == (True, 500)
    file = b"".join(client.get("/topics/headers/+records/?format=csv").streaming_content).decode()
    assert "trace=9999" in file
