import csv
import io
from datetime import UTC, datetime

import pytest

from console.kit.common import csv_table
from console.kit.common.csv_table import cell, csv_chunks
from console.state.clusters.models import Topic


def table_of(response) -> list[list[str]]:
    return list(csv.reader(io.StringIO(b"".join(response.streaming_content).decode())))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"])
@pytest.mark.parametrize("before", ["", " ", "\u00a0", "\ufeff", " \t", "\u200b", "\u3000\x0b", "\x1f"])
def test_a_text_that_a_spreadsheet_would_run_begins_with_an_apostrophe(text, before):
    assert cell(before + text) == f"'{before}{text}"


@pytest.mark.parametrize("text", ["a=1", " a=1", "orders-1", "'=1", "", " "])
def test_a_text_that_no_spreadsheet_runs_stays_as_it_is(text):
    assert cell(text) == text


def test_a_list_or_mapping_is_no_way_around_the_apostrophe():
    assert cell(["=1", 2]) == "'=1 2"
    assert cell({"=1": 2}) == "'=1=2"


def test_values_stand_in_the_file_as_a_program_reads_them():
    at = datetime(2026, 11, 21, 3, 12, tzinfo=UTC)
    assert [cell(item) for item in (None, True, -5, 0.5, at, [1, 2])] == [
        "",
        "yes",
        -5,
        0.5,
        "2026-11-21T03:12:00+00:00",
        "1 2",
    ]


def test_commas_quotes_and_line_ends_survive_the_way():
    text = "".join(csv_chunks(["a", "b"], [('x,"y"', "one\ntwo")]))
    assert list(csv.reader(io.StringIO(text))) == [["a", "b"], ['x,"y"', "one\ntwo"]]


def test_rows_are_read_as_they_are_taken_and_never_more_than_allowed(monkeypatch):
    monkeypatch.setattr(csv_table, "ROWS_MAX", 1_200)
    read = []
    chunks = csv_chunks(["n"], ((read.append(n) or n,) for n in range(5_000)))

    next(chunks)
    assert len(read) < 600
    assert sum(chunk.count("\n") for chunk in chunks) + 500 == 1_201


def test_a_chunk_of_long_rows_ends_after_few_of_them():
    chunks = list(csv_chunks(["text"], (("a" * 200_000,) for _ in range(50))))
    assert max(map(len, chunks)) < 600_000
    assert sum(map(len, chunks)) > 10_000_000


def test_the_file_holds_every_page_of_what_the_filters_choose(viewer, client_of):
    Topic.objects.bulk_create([Topic(name=f"orders-{n:03}", record_count=n) for n in range(120)])
    Topic.objects.create(name="payments")

    response = client_of(viewer).get("/topics/?search=ord&sort=-records&format=csv&page=2")

    rows = table_of(response)
    assert response["Content-Disposition"] == 'attachment; filename="topics.csv"'
    assert [row[0] for row in rows[1:]] == [f"orders-{n:03}" for n in reversed(range(120))]


@pytest.mark.parametrize("page", ["/topics/", "/topics/orders/", "/brokers/", "/placement/", "/processes/"])
def test_every_table_is_a_file_with_its_titles(page, viewer, client_of, cluster, collect):
    cluster.create_topic("orders", 2, 3)
    collect()
    rows = table_of(client_of(viewer).get(f"{page}?format=csv"))

    assert len({len(row) for row in rows}) == 1
    assert len(rows) == {"/topics/": 2, "/brokers/": 4, "/processes/": 1}.get(page, 3)


@pytest.mark.parametrize("page", ["/topics/", "/topics/orders/", "/brokers/", "/placement/", "/processes/", "/audit/"])
def test_an_outsider_gets_no_file(page, outsider, client_of):
    assert client_of(outsider).get(f"{page}?format=csv").status_code == 403
