"""What the messages tab has beside the rows: columns, files, a histogram, the drawer, two records compared."""

import base64
import csv
import io
import json
import re

import pytest

from console.state.clusters.models import Topic

EVIL = "<script>alert(1)</script>"
ORDER = b"k-1", b'{"id": 1, "customer": {"name": "Ada"}, "amount": 1.10}', (("t", b"x"),)


@pytest.fixture
def topic(cluster, collect) -> Topic:
    cluster.create_topic("orders", 2, 3)
    cluster.produce_record(
        "orders", 0, b"k-1", b'{"id": 1, "customer": {"name": "Ada"}, "amount": 1.10}', (("t", b"x"),)
    )
    cluster.produce_record("orders", 0, b"k-2", b'{"id": 2, "amount": 7e400}')
    cluster.produce_record("orders", 1, None, None)
    collect()
    return Topic.objects.get(name="orders")


@pytest.fixture
def ask(reader, client_of, topic):
    client = client_of(reader)

    def get(query: str = "", **headers: str):
        return client.get(f"/topics/orders/+records/{query}", headers=headers)

    return get


def text_of(response) -> str:
    return b"".join(response.streaming_content if response.streaming else [response.content]).decode()


def lines(response) -> list[dict]:
    return [json.loads(line) for line in text_of(response).splitlines()]


# -- columns


def test_picked_columns_stand_in_the_table_and_in_its_file(ask):
    response = ask("?place=oldest&column=value.amount&column=customer.name&column=headers.t")
    text = response.content.decode()
    for title in ("value.amount", "value.customer.name", "headers.t"):
        assert f'<th class="mono">{title}</th>' in text
    cells = {
        record.record.offset: record.cells for record in response.context["records"] if record.record.partition == 0
    }
    assert cells == {0: ["1.10", "Ada", "x"], 1: ["7e400", "", ""]}
    file = b"".join(ask("?place=oldest&column=value.amount&format=csv").streaming_content).decode()
    titles, first, *_ = csv.reader(io.StringIO(file))
    assert dict(zip(titles, first, strict=True))["value.amount"] == "1.10"


def test_paths_of_the_records_shown_are_offered(ask):
    assert ask("?columns=none").context["offered"] == ["value.amount", "value.id", "headers.t", "value.customer.name"]
    assert ask("?column=value.id").context["offered"] == ["value.amount", "headers.t", "value.customer.name"]


def test_names_in_records_are_text_and_nothing_else(ask, cluster):
    cluster.produce_record("orders", 0, None, json.dumps({EVIL: EVIL}).encode())
    text = ask(f"?column=value.{EVIL}").content.decode()
    assert "<script>alert" not in text
    assert text.count("&lt;script&gt;alert") >= 3


def test_more_columns_than_a_table_holds_are_left_out(ask):
    assert len(ask("?" + "&".join(f"column=value.c{n}" for n in range(200))).context["picked"]) == 8


# -- files


def test_records_are_a_file_of_json_lines_with_nothing_lost(ask, cluster):
    cluster.produce_record("orders", 1, b"\xff\x00", "naïve\nline".encode(), (("h", None), ("h", b"\xfe")))
    response = ask("?place=oldest&format=jsonl")
    assert response["Content-Disposition"] == 'attachment; filename="records-orders.jsonl"'
    text = text_of(response)
    lines = {(line["partition"], line["offset"]): line for line in map(json.loads, text.splitlines())}
    assert lines[0, 0]["value"] == {"id": 1, "customer": {"name": "Ada"}, "amount": 1.1}
    assert lines[0, 0]["headers"] == [["t", "x"]]
    assert "7e400" in text
    assert (lines[1, 0]["key"], lines[1, 0]["value"]) == (None, None)
    last = lines[1, 1]
    assert base64.b64decode(last["key"]["base64"]) == b"\xff\x00"
    assert last["value"] == "naïve\nline"
    assert last["headers"] == [["h", None], ["h", {"base64": base64.b64encode(b"\xfe").decode()}]]


def test_what_a_search_found_is_a_file_of_json_lines_too(ask):
    response = ask("?search=Ada&place=oldest&format=jsonl")
    assert 'filename="records-orders-found.jsonl"' in response["Content-Disposition"]
    assert [line["offset"] for line in lines(response)] == [0]


# -- the histogram


def test_a_bar_leads_to_its_time_and_keeps_what_else_was_asked(ask):
    text = ask("histogram/?limit=50&column=value.id&cursor=0:1").content.decode()
    assert "3 offsets by time" in text
    assert re.search(r"\?limit=50&amp;column=value.id&amp;from=20\d\d-", text)
    assert "cursor" not in text


def test_a_cluster_that_does_not_answer_leaves_the_rest_of_the_page_alone(ask, cluster):
    cluster.cut_off()
    assert "No broker answered in time." in ask("histogram/").content.decode()


# -- the drawer


def test_a_record_is_asked_for_as_a_part_of_the_list(ask):
    text = ask("0/0/", **{"HX-Request": "true", "HX-Target": "record-drawer"}).content.decode()
    assert "<html" not in text
    assert "Ada" in text
    assert "Previous" in text
    assert "Timestamp type" in text


# -- comparing


def test_two_records_are_compared_line_by_line(ask):
    text = ask("compare/?left=0:0&right=0:1").content.decode()
    assert "&quot;id&quot;: 1," in text
    assert "&quot;id&quot;: 2," in text
    assert 'class="changed"' in text


def test_a_record_is_compared_with_one_of_another_topic(ask, cluster, collect):
    cluster.create_topic("copies", 1, 1)
    cluster.produce_record(
        "copies", 0, b"k-1", b'{"id": 1, "customer": {"name": "Ada"}, "amount": 1.10}', (("t", b"x"),)
    )
    collect()
    text = ask("compare/?left=0:0&right=copies/0:0").content.decode()
    assert text.count("the same") >= 3


@pytest.mark.parametrize("place", ["nonsense", "0", "0:x", "9:9:9", EVIL])
def test_what_is_no_place_is_told(ask, place):
    response = ask(f"compare/?left=0:0&right={place}")
    assert response.status_code == 400
    assert "is no place" in response.content.decode()
    assert EVIL not in response.content.decode()


def test_a_record_that_is_not_there_is_told(ask):
    assert ask("compare/?left=0:0&right=0:99").status_code == 404
    assert ask("compare/?left=0:0&right=nowhere/0:0").status_code == 404


@pytest.mark.parametrize("address", ["", "histogram/", "compare/?left=0:0&right=0:1"])
def test_who_may_not_read_records_sees_none_of_it(viewer, client_of, topic, address):
    assert client_of(viewer).get(f"/topics/orders/+records/{address}").status_code == 403
