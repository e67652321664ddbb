"""A table in a topic: the newest value of a key counts, a null takes it away."""

import pytest

from broker.cli import stream_table
from broker.common.errors import StartupError
from broker.spark.table import fold, greatest
from tests.broker.connect.mock_cluster import mock_cluster, produce_all
from tests.broker.spark.table_of import table_of


def test_newest_value_of_a_key_counts_and_null_takes_it_away():
    table: dict = {}
    fold(
        table,
        [("a", b'{"count": 1}'), ("b", b"2"), ("a", b'{"count": 3}'), ("b", None), ("c", b"x")],
        lambda k: k != "c",
    )
    assert table == {"a": {"count": 3}}


def test_greatest_come_first_and_what_has_no_count_last():
    table = {"a": {"count": 1}, "b": {"count": 5}, "c": "text", "d": 3, "e": {"count": 5}}
    assert [row.key for row in greatest(table, "count", 4)] == ["b", "e", "d", "a"]


def test_table_is_asked_over_all_partitions(capsys):
    with mock_cluster("table") as cluster:
        for key, count in (("the", 1), ("log", 1), ("the", 2), ("then", 7)):
            produce_all(cluster.bootstrap_servers, "table", [f'{{"count": {count}}}'.encode()], key=key)
        assert table_of(cluster.bootstrap_servers, "table")["the"] == {"count": 2}
        arguments = [
            "--bootstrap-server",
            cluster.bootstrap_servers,
            "--topic",
            "table",
            "--prefix",
            "the",
            "--top",
            "2",
        ]
        assert stream_table.main(arguments) == 0
        assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["7", "then"], ["2", "the"]]
        assert stream_table.main([*arguments, "--key", "nobody"]) == 1


def test_cluster_that_is_away_is_said_in_one_sentence():
    with pytest.raises(StartupError, match="table cannot be read"):
        stream_table.main(["--bootstrap-server", "127.0.0.1:1", "--topic", "table"])
