"""A broker whose clock jumps by two hours, forwards and backwards, while it works; its monotonic time goes on."""

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from broker.common.errors import ErrorCode
from broker.coordinator.partitions import partition_for
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.barnabas_cluster import Cluster, await_true, running_cluster
from tests.faults.history import Assigned, Event, Policy, record_value
from tests.faults.matrix.group import GroupMember
from tests.faults.matrix.group_row import OFFSETS, OFFSETS_PARTITIONS
from tests.faults.matrix.late_client import FETCH_VERSION, PRODUCE_VERSION, LateProducer
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage
from tests.faults.matrix.wire import WireClient
from tests.place import Place

#: Whose clock it is.
_JUMPER = 2
_HOUR_S = 3600
_JUMPS = {"forwards": 2 * _HOUR_S, "backwards": -2 * _HOUR_S}
#: What the machine may take for an answer.
_TOLERANCE_S = 60
_STAYS_S = 3.0
_RECORDS = 40
_SEGMENT_BYTES = "1000"
_LIBRARY = "faketime/libfaketimeMT.so.1"
#: A group whose member nothing but the clock could drive out.
_PATIENT = "patient"
_PATIENCE_MS = 60_000
#: Much less than two hours, and more than a busy machine takes.
OVERRIDES = {
    "zookeeper.session.timeout.ms": "15000",
    "replica.lag.time.max.ms": "5000",
    "log.retention.check.interval.ms": "500",
    "log.initial.task.delay.ms": "500",
}


def missing_for_a_clock() -> str:
    """What this machine lacks to have a process see another time; nothing if it can."""
    return "" if _library() else "libfaketime"


def _library() -> Path | None:
    places = (
        *Path("/usr/lib").glob(f"*/{_LIBRARY}"),
        *(Path(name) / _LIBRARY for name in ("/usr/lib", "/usr/local/lib")),
    )
    return next((path for path in places if path.exists()), None)


@contextlib.contextmanager
def cluster_with_an_odd_clock(directory: Path, settings: dict[str, str], _zookeepers: int) -> Iterator[Cluster]:
    _set_clock(directory, 0)
    surroundings = {
        "LD_PRELOAD": _library(),
        "FAKETIME_TIMESTAMP_FILE": directory / "clock",
        "FAKETIME_NO_CACHE": 1,
        "FAKETIME_DONT_FAKE_MONOTONIC": 1,
    }
    place = Place(enter=("env", *(f"{name}={value}" for name, value in surroundings.items())))
    with running_cluster(directory, 3, settings, places={f"broker-{_JUMPER}": place}) as cluster:
        yield cluster


def _set_clock(directory: Path, ahead_s: int) -> None:
    """Of the process, from its next look at it."""
    new = directory / "clock.new"
    new.write_text(f"{ahead_s:+}\n")
    os.replace(new, directory / "clock")


def jump(stage: Stage) -> None:
    """Nobody is elected, no session ends, nothing is deleted before its time, and what waits is not forgotten.

    A jump that is longer than retention.ms deletes nothing either, unlike Kafka's: it may be a mistake, and does not
    count within the hour. A leader whose clock is more than message.timestamp.after.max.ms behind refuses records, as
    Kafka's does (KIP-1030): the topic that is written to allows more than the jump.
    """
    stage.follow_internal(OFFSETS, OFFSETS_PARTITIONS)
    replicas = [(_JUMPER, *stage.others(_JUMPER))]
    stage.create("stamped", replicas, message_timestamp_type="LogAppendTime")
    stage.create(
        "aged",
        replicas,
        segment_bytes=_SEGMENT_BYTES,
        retention_ms=str(_HOUR_S * 1000),
        message_timestamp_after_max_ms=str(3 * _HOUR_S * 1000),
    )
    stage.create("brief", replicas, Policy.RETAIN, segment_bytes=_SEGMENT_BYTES, retention_ms="1000")
    _write(stage, "aged", "all")
    with _reading(stage, _PATIENT, _PATIENCE_MS), _clock_of(stage) as clock:
        before = _who_is_what(stage)
        for way, ahead_s in _JUMPS.items():
            clock(ahead_s)
            with _reading(stage, way):
                _wait_for_records_in_vain(stage)
            _write(stage, "aged", "all")
            stage.stay_until(time.monotonic() + _STAYS_S)
            if _who_is_what(stage) != before:
                stage.violations.append(f"after a jump {way} it is {_who_is_what(stage)}, before it was {before}")
            if way == "forwards":
                _expect_retention_at_work(stage)
        follower = stage.random.choice(stage.others(_JUMPER))
        at = stage.suspend(follower)
        stage.await_isr("stamped", 0, stage.others(follower))
        stage.measured["out"] = time.monotonic() - at
        stage.resume(follower)


def no_rebalance(events: list[Event]) -> Iterator[str]:
    """Sessions of a group's members go on though the clock of their coordinator jumps."""
    given = [event for event in events if isinstance(event, Assigned) and event.group.startswith(_PATIENT)]
    if len(given) != 1:
        yield f"the member of a group was given partitions {len(given)} times when a clock jumped"


@contextlib.contextmanager
def _clock_of(stage: Stage) -> Iterator[Callable[[int], None]]:
    """Puts the jumper's clock so many seconds ahead of ours, and returns when it shows; it is right afterwards."""
    directory = stage.broker(_JUMPER).directory.parent

    def put(ahead_s: int) -> None:
        stage.note(f"its clock is put ahead by {ahead_s} s")
        _set_clock(directory, ahead_s)
        await_true(lambda: abs(_seconds_ahead(stage) - ahead_s) < _TOLERANCE_S, f"its clock is ahead by {ahead_s} s")

    try:
        yield put
    finally:
        put(0)


@contextlib.contextmanager
def _reading(stage: Stage, name: str, session_timeout_ms: int = 6_000) -> Iterator[None]:
    """A group coordinated by the jumper, whose member reads by the time this begins."""
    coordinated = stage.led_by(_JUMPER, OFFSETS)
    names = (f"{name}-{number}" for number in itertools.count())
    group = next(name for name in names if partition_for(name, OFFSETS_PARTITIONS) in coordinated)
    member = GroupMember(
        group, "m", ["aged"], stage.cluster.bootstrap_servers, stage.history, session_timeout_ms=session_timeout_ms
    )
    member.start()
    try:
        await_true(lambda: member.records or member.failure, f"the member of {group} reads", WHOLE_WITHIN_S)
        yield
    finally:
        member.stop()
        member.join(WHOLE_WITHIN_S)


def _who_is_what(stage: Stage) -> tuple:
    registered = [stage.watch.broker_epoch(other) for other in stage.others()]
    leaders = {replica: stage.watch.state(replica).leader_epoch for replica in stage.replicas}
    return registered, stage.watch.controller_epoch(), leaders


def _seconds_ahead(stage: Stage) -> float:
    """By the time that the broker stamps a record with."""
    value = record_value(f"stamp/{time.monotonic_ns()}", 0)
    batch = build_batch([Record(0, int(time.time() * 1000), None, value)])
    data = TopicProduceData(name="stamped", partition_data=[PartitionProduceData(index=0, records=batch)])
    with WireClient(stage.broker(_JUMPER).port) as client:
        answer = client.ask(ProduceRequest(acks=1, timeout_ms=5_000, topic_data=[data]), PRODUCE_VERSION)
    return answer.responses[0].partition_responses[0].log_append_time_ms / 1000 - time.time()


def _wait_for_records_in_vain(stage: Stage) -> None:
    """A fetch whose time is up by the monotonic clock; returns when it is answered."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000)
    topics = [FetchTopic(topic="stamped", partitions=[partition])]
    with WireClient(stage.broker(_JUMPER).port) as client:
        client.ask(FetchRequest(max_wait_ms=300, min_bytes=10**6, max_bytes=10**6, topics=topics), FETCH_VERSION)


def _write(stage: Stage, topic: str, acks: str) -> None:
    broker = stage.broker(_JUMPER)
    producer = LateProducer(f"{topic}-{time.monotonic_ns()}", broker.port, topic, acks, stage.history)
    for _ in range(_RECORDS):
        producer.send(0)
    codes = producer.outcomes()
    if ErrorCode.NONE not in codes:
        stage.violations.append(f"{topic} was answered {[code.name for code in codes]}")


def _expect_retention_at_work(stage: Stage) -> None:
    """What may go goes, so that what stays does not stay for want of looking."""
    _write(stage, "brief", "1")
    files = stage.broker(_JUMPER).directory / "logs" / "brief-0"
    await_true(lambda: len(list(files.glob("*.log"))) == 1, "segments go that are old enough")
