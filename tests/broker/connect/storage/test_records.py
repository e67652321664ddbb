"""A4 as bytes and as rules: what Kafka's workers write and read in the three topics."""

from broker.connect.group.wire import CONNECTOR, Unit
from broker.connect.storage import records
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.states import States


def applied(table, *written):
    for offset, (key, value) in enumerate(written):
        table.apply(key, value, offset)
    return table


def test_records_are_written_as_kafkas_workers_write_them():
    assert records.connector_record("c", {"name": "ü"}) == (b"connector-c", '{"properties":{"name":"ü"}}'.encode())
    assert records.task_records("c", [{"a": "b"}]) == [
        (b"task-c-0", b'{"properties":{"a":"b"}}'),
        (b"commit-c", b'{"tasks":1}'),
    ]
    assert records.target_record("c", "STOPPED") == (b"target-state-c", b'{"state":"PAUSED","state.v2":"STOPPED"}')
    assert records.offset_record("file-src", {"filename": "test.txt"}, {"position": 42}) == (
        b'["file-src",{"filename":"test.txt"}]',
        b'{"position":42}',
    )
    assert records.status_record("c", 0, "RUNNING", "w:1", 3) == (
        b"status-task-c-0",
        b'{"state":"RUNNING","trace":null,"worker_id":"w:1","generation":3}',
    )
    assert records.topic_record("t", "c", 0, 5)[0] == b"status-topic-t:connector-c"


def test_tasks_count_when_all_of_them_were_written():
    one = {"properties": {}}
    table = applied(
        Configurations(),
        records.connector_record("a-1", {}),
        (b"task-a-1-0", records.dump(one)),
        (b"commit-a-1", b'{"tasks":2}'),
    )
    assert table.inconsistent == {"a-1"}
    assert table.units() == {Unit("a-1", CONNECTOR)}
    applied(table, *records.task_records("a-1", [{}, {}]))
    assert table.inconsistent == set()
    assert table.units() == {Unit("a-1", CONNECTOR), Unit("a-1", 0), Unit("a-1", 1)}


def test_what_is_left_of_a_deleted_connector_does_not_come_back_with_its_name():
    table = applied(
        Configurations(),
        *records.task_records("c", [{}, {}]),
        records.connector_record("c", {"new": "1"}),
    )
    assert table.units() == {Unit("c", CONNECTOR)}


def test_records_of_anybody_are_passed_over():
    table = Configurations()
    for key in (None, b"", b"connector", b"task-", b"task-c-x", b"commit-c", b"target-state-c", b"\xff", b"other-c"):
        for value in (None, b"", b"[]", b"1", b'{"properties":[]}', b'{"tasks":"x"}', b"\xff"):
            table.apply(key, value, 0)
            StoredOffsets().apply(key, value, 0)
            States().apply(key, value, 0)
    assert table.units() == frozenset()


def test_an_older_target_is_read_and_the_newer_one_preferred():
    table = applied(Configurations(), (b"target-state-c", b'{"state":"PAUSED"}'))
    assert table.target("c") == "PAUSED"
    assert applied(table, records.target_record("c", "STOPPED")).target("c") == "STOPPED"
    assert applied(table, records.target_record("c", None)).target("c") == "STARTED"


def test_an_offset_is_deleted_under_the_bytes_that_compaction_knows():
    table = applied(StoredOffsets(), (b'["c",{"b":1,  "a":2}]', b'{"position":1}'))
    assert table.of("c", {"a": 2, "b": 1}) == {"position": 1}
    tombstone = table.record("c", {"a": 2, "b": 1}, None)
    assert tombstone == (b'["c",{"b":1,  "a":2}]', None)
    assert applied(table, tombstone).all("c") == []


def test_a_late_word_of_a_former_owner_does_not_hide_its_successor():
    table = applied(
        States(),
        records.status_record("c", 0, "RUNNING", "new", 7),
        records.status_record("c", 0, "UNASSIGNED", "old", 6),
        records.status_record("c", 0, "FAILED", "old", 6, "read too late"),
    )
    assert table.of("c")[0].state == "RUNNING"
    assert table.of("c")[0].worker_id == "new"
    assert not table.may_write(("c", 0), "old", 6)
    assert table.may_write(("c", 0), "new", 6)


def test_who_was_configured_since_the_last_fencing_is_to_be_fenced():
    table = applied(
        Configurations(),
        records.connector_record("c", {}),
        *records.task_records("c", [{}, {}]),
    )
    assert (table.to_fence, table.fenced, table.generations) == ({"c"}, {}, {"c": 1})
    applied(table, records.fencing_record("c", 2))
    assert (table.to_fence, table.fenced) == (set(), {"c": 2})
    applied(table, *records.task_records("c", [{}]))
    assert (table.to_fence, table.fenced, table.generations) == ({"c"}, {"c": 2}, {"c": 2})
    applied(table, records.connector_record("c", None), records.connector_record("c", {}))
    assert table.fenced == {"c": 2}


def test_what_is_asked_of_every_worker_is_read_as_kafkas_write_it():
    restart_record = records.restart_record("a-b", includes_tasks=True, only_failed=False)
    assert restart_record == (b"restart-connector-a-b", b'{"include-tasks":true,"only-failed":false}')
    assert records.restart_asked(*restart_record) == ("a-b", True, False)
    level = records.logger_record("broker.connect", "DEBUG")
    assert level == (b"logger-cluster-broker.connect", b'{"level":"DEBUG"}')
    assert records.logger_level(*level) == ("broker.connect", "DEBUG")
    for key, value in (
        (None, None),
        (b"restart-connector-c", b"1"),
        (b"logger-cluster-x", b'{"level":1}'),
        restart_record,
    ):
        assert records.logger_level(key, value) is None


def test_a_task_with_a_number_that_is_none_is_passed_over():
    configurations = Configurations()
    for number in ("9" * 5_000, "-1", "one", ""):
        configurations.apply(f"task-c-{number}".encode(), records.dump({"properties": {}}), 0)
    assert configurations.units() == frozenset()
