"""An exactly-once source's task on a transactional producer: in which order it begins, and what it keeps."""

import json

from broker.connect.api import ConnectError, SourceRecord, SourceTask
from broker.connect.group.wire import Unit
from broker.connect.storage import records
from broker.connect.tasks.exactly_once_source import RunningExactlyOnceSource
from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import all_records, mock_cluster


class Lines(SourceTask):
    """Two polls of two lines, then nothing."""

    def start(self, props, context):
        self._left = [[1, 2], [3, 4]]

    def poll(self):
        lines = self._left.pop(0) if self._left else []
        return [SourceRecord({"file": "f"}, {"line": n}, "lines", None, None, None, None, f"{n}") for n in lines]

    def stop(self):
        return


class Kept:
    topic = "offsets"

    def __init__(self, steps):
        self._steps = steps

    def catch_up(self, *, waits_for_open):
        assert waits_for_open
        self._steps.append("read")

    def record(self, partition, offset):
        return records.offset_record("c", partition, offset)

    def put(self, _pairs):
        self._steps.append("stored")

    def are_committed(self, pairs):
        return

    def close(self):
        return


def running(cluster, steps, **more):
    producer = {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "w-c-0", "log_level": 2}
    common = {
        "task": Lines,
        "props": {},
        "worker_props": {f"{side}.converter": "StringConverter" for side in ("key", "value")},
        "producer": producer,
        "admin": {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 2},
        "offsets": Kept(steps),
        "holds": lambda: True,
        "used": lambda _unit, _topic: None,
        "flush_interval_s": 0.05,
        "flush_timeout_s": 5,
        "fence": lambda connector: steps.append(f"fenced {connector}"),
        "is_current": lambda: steps.append("current"),
    }
    return RunningExactlyOnceSource(
        Unit("c", 0), lambda _unit, state, trace: steps.append(trace or state), False, **common | more
    )


def kept(cluster):
    return [json.loads(each.value())["line"] for each in all_records(cluster.bootstrap_servers, "offsets")]


def test_older_ones_are_fenced_before_offsets_are_read_and_each_poll_ends_with_its_offset():
    steps = []
    with mock_cluster("lines", "offsets") as cluster:
        task = running(cluster, steps)
        task.begin()
        await_true(lambda: len(kept(cluster)) == 2, "two transactions")
        task.ask_to_stop()
        assert task.await_stop(20)
        assert sorted(each.value() for each in all_records(cluster.bootstrap_servers, "lines")) == [
            b"1",
            b"2",
            b"3",
            b"4",
        ]
        assert kept(cluster) == [2, 4]
    assert steps == ["fenced c", "current", "read", "RUNNING", "UNASSIGNED"]


def test_a_task_of_an_older_configuration_reads_and_writes_nothing():
    steps = []

    def is_older():
        raise ConnectError("task c-0 is of an older configuration")

    with mock_cluster("lines", "offsets") as cluster:
        task = running(cluster, steps, is_current=is_older)
        task.begin()
        await_true(lambda: len(steps) == 2, "failed")
        assert task.await_stop(20)
        assert all_records(cluster.bootstrap_servers, "lines") == []
    assert "older configuration" in steps[1]
