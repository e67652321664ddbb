"""A source's task on a real producer: what it may write, and what its end is called."""

import threading

import pytest
from confluent_kafka import KafkaError, KafkaException

from broker.client.errors import BrokerUnreachable
from broker.common.errors import ApiError, ErrorCode
from broker.connect.api import ConnectError, SourceRecord, SourceTask
from broker.connect.group.wire import Unit
from broker.connect.storage.logs import StorageError
from broker.connect.tasks import unit
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

    """`troubles`: what the next calls of `catch_up` and `put` raise, each once."""

    def __init__(self, stored, troubles=None):
        self._stored = stored
        self._troubles = troubles or {}

    def catch_up(self, *, waits_for_open):
        self._stumble("catch_up")

    def put(self, pairs):
        self._stumble("put")
        self._stored.extend(pairs)

    def _stumble(self, call):
        if self._troubles.get(call):
            raise self._troubles[call].pop()

    def close(self):
        return


class Group:
    is_ours = True


def running(cluster, group, states, stored, troubles=None, task=OneLine, tell=None):
    converters = {f"{side}.converter": "StringConverter" for side in ("key", "value")}
    return RunningSource(
        Unit("c", 0),
        tell or (lambda _unit, state, _trace: states.append(state)),
        False,
        task=task,
        props={},
        worker_props=converters,
        producer={"bootstrap.servers": cluster.bootstrap_servers, "log_level": 2},
        admin={"bootstrap.servers": cluster.bootstrap_servers, "log_level": 2},
        offsets=Kept(stored, troubles),
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


class OneLineWhenAllowed(OneLine):
    is_allowed = threading.Event()

    def poll(self):
        return super().poll() if self.is_allowed.wait(0.01) else []


def test_a_task_runs_before_it_has_polled_so_its_status_promises_no_record():
    """Who waits for RUNNING and then counts records may come before the first one."""
    states, stored, group = [], [], Group()
    OneLineWhenAllowed.is_allowed.clear()
    with mock_cluster("lines") as cluster:
        task = running(cluster, group, states, stored, task=OneLineWhenAllowed)
        task.begin()
        await_true(lambda: states == ["RUNNING"], "it runs")
        assert (all_records(cluster.bootstrap_servers, "lines"), stored) == ([], [])
        task.ask_to_stop()
        assert task.await_stop(10)
        successor = running(cluster, group, states, stored, task=OneLineWhenAllowed)
        OneLineWhenAllowed.is_allowed.set()
        successor.begin()
        await_true(lambda: stored, "the line that was left is written by the successor")
        successor.ask_to_stop()
        assert successor.await_stop(10)
        assert [record.value() for record in all_records(cluster.bootstrap_servers, "lines")] == [b"line"]


_TIMED_OUT = StorageError("'connect-offsets' was not read to its end in 30 s")


@pytest.mark.parametrize("call", ["catch_up", "put"])
def test_a_time_out_of_the_offset_storage_ends_no_task(call, monkeypatch):
    monkeypatch.setattr(unit, "RESTART_PAUSE_S", 0.01)
    reported, stored, group = [], [], Group()
    troubles = {call: [_TIMED_OUT, _TIMED_OUT]}
    with mock_cluster("lines") as cluster:
        task = running(cluster, group, [], stored, troubles, tell=lambda *state: reported.append(state[1:]))
        task.begin()
        await_true(lambda: stored, "offsets stored")
        assert not task.failed
        task.ask_to_stop()
        assert task.await_stop(10)
    assert stored == [({"file": "f"}, {"line": 1})]
    assert ("RUNNING", f"StorageError: {_TIMED_OUT}") in reported
    assert {state for state, _ in reported} == {"RUNNING", "UNASSIGNED"}


class Troubled(OneLine):
    """`start` raises each of `troubles` once."""

    troubles = ()

    def start(self, props, context):
        super().start(props, context)
        if self.troubles:
            raise self.troubles.pop()


_RETRIABLE = [
    BrokerUnreachable("no response in time"),
    ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE),
    KafkaException(KafkaError(KafkaError._TIMED_OUT)),
]


@pytest.mark.parametrize("error", _RETRIABLE, ids=lambda error: type(error).__name__)
def test_a_task_that_meets_a_cluster_which_is_away_begins_again(error, monkeypatch):
    monkeypatch.setattr(unit, "RESTART_PAUSE_S", 0.01)
    monkeypatch.setattr(Troubled, "troubles", [error, error])
    states, stored, group = [], [], Group()
    with mock_cluster("lines") as cluster:
        task = running(cluster, group, states, stored, task=Troubled)
        task.begin()
        await_true(lambda: stored, "offsets stored")
        task.ask_to_stop()
        assert task.await_stop(10)
    assert "FAILED" not in states


def test_a_task_that_is_stopped_while_it_waits_to_begin_again_ends(monkeypatch):
    monkeypatch.setattr(unit, "RESTART_PAUSE_S", 60)
    monkeypatch.setattr(Troubled, "troubles", [_RETRIABLE[0]])
    states = []
    with mock_cluster("lines") as cluster:
        task = running(cluster, Group(), states, [], task=Troubled)
        task.begin()
        await_true(lambda: "RUNNING" in states, "it says that it begins again")
        task.ask_to_stop()
        assert task.await_stop(10)
    assert states == ["RUNNING", "UNASSIGNED"]


@pytest.mark.parametrize("error", [ConnectError("wrong"), ApiError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)])
def test_what_waiting_does_not_mend_ends_a_task(error, monkeypatch):
    monkeypatch.setattr(Troubled, "troubles", [error])
    states = []
    with mock_cluster("lines") as cluster:
        task = running(cluster, Group(), states, [], task=Troubled)
        task.begin()
        await_true(lambda: states == ["FAILED"], "it has failed")
