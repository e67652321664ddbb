"""Reading by a program: what pages show, for whom they show it."""

import gzip
import re

import pytest

from console.kit.access.models import NameRule
from console.shell.api.reads import READS
from console.shell.api.tables import LENGTH_MAX


def test_a_program_reads_what_its_person_sees(program, operator, cluster, collect):
    cluster.create_topic("orders", 2, 1)
    collect()
    answer = program(operator).get("topics/orders/partitions").json()
    assert [row["partition"] for row in answer["rows"]] == [0, 1]
    assert answer["more"] is False


def test_a_name_that_is_hidden_from_a_person_is_hidden_from_the_persons_programs(program, viewer, cluster, collect):
    for name in ("orders", "secret-plans"):
        cluster.create_topic(name, 1, 1)
    collect()
    NameRule.objects.create(user=viewer, resource="topic", pattern="secret*", level="nothing")
    api = program(viewer)
    assert [row["topic"] for row in api.get("topics").json()["rows"]] == ["orders"]
    hidden, absent = (api.get(f"topics/{name}/partitions") for name in ("secret-plans", "secret-nothing"))
    assert (hidden.status_code, hidden.json()["detail"]) == (403, absent.json()["detail"].replace("nothing", "plans"))
    assert api.get("topics/nothing-there/partitions").status_code == 404


def test_rows_are_taken_in_parts(program, viewer, cluster, collect):
    cluster.create_topic("orders", 5, 1)
    collect()
    api = program(viewer)
    first = api.get("topics/orders/partitions", take=2).json()
    assert [row["partition"] for row in first["rows"]] == [0, 1]
    assert first["more"] is True
    last = api.get("topics/orders/partitions", take=2, skip=4).json()
    assert ([row["partition"] for row in last["rows"]], last["more"]) == ([4], False)
    assert api.get("topics", take=0).status_code == 422
    assert api.get("topics", take=10_001).status_code == 422
    assert api.get("topics", skip=2**63 - 1).status_code == 422


def test_rows_of_very_much_text_are_taken_in_parts_however_little_they_weigh(program, reader, cluster, collect):
    cluster.create_topic("bombs", 1, 1)
    bomb = gzip.compress(b"a" * 4_000_000)
    for _ in range(20):
        cluster.produce_record("bombs", 0, b"k", bomb)
    collect()
    part = program(reader).get("topics/bombs/records", place="oldest", take=20).json()
    assert 0 < sum(len(row["value"]) for row in part["rows"]) <= LENGTH_MAX + 4_100_000
    assert part["more"] is True
    rest = program(reader).get("topics/bombs/records", place="oldest", take=20, skip=len(part["rows"])).json()
    assert rest["rows"][0]["offset"] == len(part["rows"])


def test_filters_of_the_page_are_parameters(program, viewer, cluster, collect):
    for name in ("orders", "clicks"):
        cluster.create_topic(name, 1, 1)
    collect()
    assert [row["topic"] for row in program(viewer).get("topics", search="ord").json()["rows"]] == ["orders"]


def test_health_is_told_with_its_reasons(program, viewer, cluster, collect):
    cluster.create_topic("orders", 1, 2)
    collect()
    cluster.stop_broker(2)
    collect()
    answer = program(viewer).get("health").json()
    assert answer["level"] != "ok"
    assert any("Broker 2" in reason["subject"] for reason in answer["reasons"])


@pytest.mark.parametrize("read", READS, ids=lambda read: read.path)
def test_each_table_is_closed_without_its_scope_and_says_so(program, administrator, read):
    scopes = {"read", "records", "plan", "apply"} - {read.scope}
    path = re.sub(r"{int:\w+}", "1", re.sub(r"{(path:)?\w+}", "orders", read.path))
    answer = program(administrator, scopes).get(path)
    assert answer.status_code == 403
    assert f"it needs the scope {read.scope}" in answer.json()["detail"]


def test_records_need_the_persons_right_beside_the_scope(program, viewer, reader, cluster, collect):
    cluster.create_topic("orders", 1, 1)
    cluster.produce_record("orders", 0, b"k", b"v")
    collect()
    assert program(viewer).get("topics/orders/records").status_code == 403
    (row,) = program(reader).get("topics/orders/records").json()["rows"]
    assert (row["offset"], row["key"], row["value"]) == (0, "k", "v")


def test_a_program_is_told_what_a_search_has_looked_at_and_which_word_is_not_known(program, reader, cluster, collect):
    cluster.create_topic("orders", 1, 1)
    cluster.produce_record("orders", 0, b"k", b"v")
    collect()
    answer = program(reader).get("topics/orders/records", search="k", searched="key").json()
    assert [row["key"] for row in answer["rows"]] == ["k"]
    assert answer["note"] == "Searched all 1 record: 1 found."
    answer = program(reader).get("topics/orders/records", place="moment").json()
    assert answer["note"].startswith("place=moment is not known and is ignored.")


@pytest.mark.parametrize("path", ["topics", "brokers", "topics/orders/partitions", "groups", "placement"])
def test_rows_of_a_cluster_that_does_not_answer_are_told_to_be_old(
    program, operator, cluster, collect, collector, path
):
    cluster.create_topic("orders", 2, 1)
    collect()
    api = program(operator)
    assert api.get(path).json()["note"] == ""
    collector.tier_looks["brokers"].failed("No broker answered in time.")
    assert api.get(path).json()["note"].startswith("The state of this cluster is unknown (last read ")
    health = api.get("health").json()
    assert (health["level"], health["reasons"][0]["level"]) == ("unknown", "unknown")


def test_rows_that_are_not_the_clusters_are_not_told_to_be_old(program, administrator, collect, collector):
    collect()
    collector.tier_looks["brokers"].failed("No broker answered in time.")
    assert program(administrator).get("audit").json()["note"] == ""
