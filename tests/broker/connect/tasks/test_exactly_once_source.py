"""An exactly-once source's task on a transactional producer: in which order it begins, and what it keeps."""

import json

from confluent_kafka import KafkaError, KafkaException

from broker.connect.api import ConnectError, SourceRecord, SourceTask
from broker.connect.group.wire import Unit
from broker.connect.storage import records
from broker.connect.tasks import exactly_once_source, unit
from broker.connect.tasks.exactly_once_source import RunningExactlyOnceSource
from broker.connect.tasks.retriable import ClusterUnavailable
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
    return [json.loads(record.value())["line"] for record in all_records(cluster.bootstrap_servers, "offsets")]


def test_older_ones_are_fenced_before_offsets_are_read_and_each_poll_ends_with_its_offset():
    steps = []
    with mock_cluster("lines", "offsets") as cluster:
        task = running(cluster, steps)
        task.begin()
        await_true(lambda: len(kept(cluster)) == 2, "two transactions")
        task.ask_to_stop()
        assert task.await_stop(20)
        assert sorted(record.value() for record in all_records(cluster.bootstrap_servers, "lines")) == [
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


class StumblingProducer:
    """A transactional producer whose `commit_transaction` fails once in the way of `error`."""

    def __init__(self, error):
        self.errors = [error]

    def commit(self):
        if self.errors:
            raise KafkaException(self.errors.pop())


def outcome_of(error):
    """What a task makes of an error of its transaction: None if it goes on in the same run."""
    with mock_cluster("lines", "offsets") as cluster:
        task = running(cluster, [])
    try:
        task._call(StumblingProducer(error).commit)
    except ConnectError as failure:
        return failure
    return None


def test_a_transaction_that_timed_out_is_tried_again_and_one_that_was_aborted_has_a_successor():
    assert outcome_of(KafkaError(KafkaError._TIMED_OUT, retriable=True)) is None
    for code in (KafkaError.TRANSACTION_ABORTABLE, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError._MSG_TIMED_OUT):
        assert isinstance(outcome_of(KafkaError(code, txn_requires_abort=True)), ClusterUnavailable)


def test_a_fenced_producer_and_a_refused_transaction_end_their_task():
    fenced = KafkaError(KafkaError._FENCED, fatal=True)
    refused = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED, txn_requires_abort=True)
    for error in (fenced, refused):
        failure = outcome_of(error)
        assert type(failure) is ConnectError
        assert error.str() in str(failure)


def test_a_fencing_round_that_times_out_is_asked_for_again(monkeypatch):
    monkeypatch.setattr(unit, "RESTART_PAUSE_S", 0.01)
    monkeypatch.setattr(exactly_once_source, "_FENCE_S", 0)
    steps, troubles = [], [ClusterUnavailable("older tasks of c are not fenced: no response")] * 2

    def fence(connector):
        if troubles:
            raise troubles.pop()
        steps.append(f"fenced {connector}")

    with mock_cluster("lines", "offsets") as cluster:
        task = running(cluster, steps, fence=fence)
        task.begin()
        await_true(lambda: kept(cluster) == [2, 4], "two transactions")
        task.ask_to_stop()
        assert task.await_stop(20)
    assert not task.failed
