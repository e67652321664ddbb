"""A source's task on a real producer: what it may write, and what its end is called."""

from broker.connect.api import SourceRecord, SourceTask
from broker.connect.group.wire import Unit
from broker.connect.tasks.source_task import RunningSource
from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import all_records, mock_cluster


class OneLine(SourceTask):
    polled = 0

    def start(self, props, context):
        self.is_told = False

    def poll(self):
        type(self).polled += 1
        if self.is_told:
            return []
        self.is_told = True
        return [SourceRecord({"file": "f"}, {"line": 1}, "lines", None, None, None, None, "line")]

    def stop(self):
        return


class Kept:
    topic = "offsets"

    def __init__(self, stored):
        self._stored = stored

    def catch_up(self, *, waits_for_open):
        return

    def put(self, pairs):
        self._stored.extend(pairs)

    def close(self):
        return


class Group:
    is_ours = True


def running(cluster, group, states, stored):
    converters = {f"{side}.converter": "StringConverter" for side in ("key", "value")}
    return RunningSource(
        Unit("c", 0),
        lambda _unit, state, _trace: states.append(state),
        False,
        task=OneLine,
        props={},
        worker_props=converters,
        producer={"bootstrap.servers": cluster.bootstrap_servers, "log_level": 2},
        admin={"bootstrap.servers": cluster.bootstrap_servers, "log_level": 2},
        offsets=Kept(stored),
        holds=lambda: group.is_ours,
        used=lambda _unit, _topic: None,
        flush_interval_s=0.05,
        flush_timeout_s=5,
    )


def test_a_task_whose_worker_lost_its_group_writes_no_record_and_no_offset_and_is_no_failure():
    states, stored, group = [], [], Group()
    group.is_ours = False
    with mock_cluster("lines") as cluster:
        task = running(cluster, group, states, stored)
        before = OneLine.polled
        task.begin()
        await_true(lambda: OneLine.polled > before, "polled")
        task.ask_to_stop()
        assert task.await_stop(10)
        assert all_records(cluster.bootstrap_servers, "lines") == []
    assert stored == []
    assert states == ["RUNNING", "UNASSIGNED"]


def test_what_waited_for_the_group_is_written_once_it_is_heard_again():
    states, stored, group = [], [], Group()
    group.is_ours = False
    with mock_cluster("lines") as cluster:
        task = running(cluster, group, states, stored)
        before = OneLine.polled
        task.begin()
        await_true(lambda: OneLine.polled > before, "polled")
        group.is_ours = True
        await_true(lambda: stored, "offsets stored")
        task.ask_to_stop()
        assert task.await_stop(10)
        assert [record.value() for record in all_records(cluster.bootstrap_servers, "lines")] == [b"line"]
    assert stored == [({"file": "f"}, {"line": 1})]
    assert states == ["RUNNING", "UNASSIGNED"]
