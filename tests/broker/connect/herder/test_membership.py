"""What a worker says of its group while it cannot be reached: each trouble once, and when it is over."""

import time
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from broker.client.errors import BrokerUnreachable
from broker.common.errors import ApiError, ErrorCode
from broker.connect.group.wire import (
    Metadata,
    Unit,
    WorkerAssignment,
    decode_metadata,
    encode_assignment,
    encode_metadata,
)
from broker.connect.herder import membership
from broker.connect.herder.membership import GroupWorker
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.records import connector_record, task_records
from tests.barnabas_cluster import await_true

_TRIES = 3


class Member:
    """Away for some tries, then without a coordinator for some, then there."""

    def __init__(self):
        self._left = [BrokerUnreachable(f"refused, {n}") for n in range(_TRIES)]
        self._left += [ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "not yet")] * _TRIES
        self.heard_at = time.monotonic()
        self.is_member = False

    def _ask(self):
        if self._left:
            raise self._left.pop(0)

    def join(self, _protocols):
        self._ask()
        return SimpleNamespace(protocol="sessioned", is_leader=False, generation=1, members={})

    def sync(self, _parts):
        self.is_member = True
        return encode_assignment(WorkerAssignment("leader", "http://leader:1/"), 2)

    def heartbeat(self):
        self._ask()
        if not self.is_member:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, "who are you")

    def leave(self):
        return


class Log:
    def __init__(self):
        self.lines = []

    def warning(self, event, **_facts):
        self.lines.append(event)

    info = error = exception = warning


def worker_of(member):
    """A worker, and what it was to run, one round after the other."""
    settings = SimpleNamespace(
        connect_protocol="sessioned", session_timeout_ms=10_000, heartbeat_interval_ms=1,
        task_shutdown_graceful_timeout_ms=0, scheduled_rebalance_max_delay_ms=0,
    )  # fmt: skip
    runs = []

    def run_only(units):
        runs.append(units)
        done = Future()
        done.set_result(None)
        return done

    herder = SimpleNamespace(settings=settings, configurations=Configurations(), run_only=run_only, heard=lambda: None)
    return GroupWorker(herder, member, "http://here:1/", lambda: None), runs


def test_a_group_that_is_away_is_told_once_for_each_trouble_and_once_when_it_is_back(monkeypatch):
    log, member = Log(), Member()
    monkeypatch.setattr(membership, "_log", log)
    monkeypatch.setattr(membership, "_PAUSE_S", 0.001)
    worker, _ = worker_of(member)
    worker.start()
    try:
        await_true(lambda: "joined" in log.lines, "joined")
    finally:
        worker.stop()
    assert log.lines == ["group not reached", "group says no", "group reached again", "joined"]


class Remembered(Member):
    """Of a group whose next coordinator knows the member still, and answers its heartbeats."""

    def __init__(self, error):
        super().__init__()
        self._left, self.is_member = [error], True


@pytest.mark.parametrize(
    "error",
    [BrokerUnreachable("refused"), *map(ApiError, (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))],
    ids=str,
)
def test_a_round_that_met_no_coordinator_is_made_again_though_heartbeats_are_answered(error, monkeypatch):
    """Else the worker is in the group for good, and has no work."""
    log = Log()
    monkeypatch.setattr(membership, "_log", log)
    monkeypatch.setattr(membership, "_PAUSE_S", 0.001)
    worker, runs = worker_of(Remembered(error))
    worker.rejoin()
    worker.start()
    try:
        await_true(lambda: runs, "it has its work", 10)
    finally:
        worker.stop()


class Led:
    """Led by a worker of Kafka's: an answer has what is new and what is revoked, and calls for another round."""

    def __init__(self, *answers):
        self._answers = list(answers)
        self.joined_with = []
        self.heard_at = time.monotonic()

    def join(self, protocols):
        self.joined_with.append(decode_metadata(protocols[0][1]).running)
        return SimpleNamespace(protocol="sessioned", is_leader=False, generation=len(self.joined_with), members={})

    def sync(self, _parts):
        return encode_assignment(self._answers.pop(0), 2)

    def heartbeat(self):
        if self._answers:
            raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS, "again")

    def leave(self):
        return


def test_what_a_leader_does_not_mention_goes_on():
    stays, goes, comes = Unit("stays", 0), Unit("goes", 0), Unit("comes", 0)
    member = Led(
        WorkerAssignment(units=frozenset({stays, goes})),
        WorkerAssignment(revoked=frozenset({goes})),
        WorkerAssignment(units=frozenset({comes})),
        WorkerAssignment(),
    )
    worker, runs = worker_of(member)
    worker.start()
    try:
        await_true(lambda: len(runs) == 4, "four rounds")
    finally:
        worker.stop()
    assert runs == [{stays, goes}, {stays}, {stays, comes}, {stays, comes}]
    assert [running and running.units for running in member.joined_with] == [None, *runs[:3]]


def test_a_stopped_task_may_run_until_its_worker_joins_without_it():
    """What is told of it may come before or after the round in which it was given to its worker."""
    worker, _ = worker_of(Member())
    task = Unit("in", 0)
    herder = worker._herder
    herder.config_log = SimpleNamespace(read_to_end=lambda: None)

    def round_of(generation, units):
        running = WorkerAssignment("other", "http://other:1/", units=frozenset(units))
        member = encode_metadata(Metadata("http://other:1/", herder.configurations.offset, running), 2)
        worker._decided(
            SimpleNamespace(members={"other": member}, protocol="sessioned", leader_id="here", generation=generation)
        )
        return worker.may_run("in")

    for offset, (key, value) in enumerate(
        [connector_record("in", {"connector.class": "C"}), *task_records("in", [{"n": "1"}])]
    ):
        herder.configurations.apply(key, value, offset)
    assert round_of(1, []), "it was given to the worker just now"
    for key, value in task_records("in", []):
        herder.configurations.apply(key, value, 9)
    assert worker.may_run("in")
    assert round_of(2, [task]), "it is taken from the worker, which has it still"
    assert not round_of(3, [])
