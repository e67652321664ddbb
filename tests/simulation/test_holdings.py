"""The checker of how many replicas hold what is acknowledged, shown or acted on."""

from pathlib import Path

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.group.records import CommittedOffset, OffsetKey, encode_offset_key, encode_offset_value
from broker.coordinator.transaction import records as transaction_records
from broker.coordinator.transaction.transaction import Transaction
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.batch import patch_batch
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC, TRANSACTION_TOPIC
from tests.simulation.history import History
from tests.simulation.holdings import Holdings
from tests.simulation.kernel import _watched
from tests.simulation.timeline import Timeline
from tests.simulation.topics import FLUSHED

WHERE = TopicPartition("orders", 0)


class Cluster:
    """Logs as brokers have them, of which the checker is told."""

    def __init__(self, directory: Path):
        self.history = History(Timeline())
        self.holdings = Holdings(self.history, lambda: 1, lambda topic: 2, lambda partition: {"broker-1", "broker-2"})
        self._directory = directory
        self._logs: dict[tuple[int, str], Log] = {}

    def append(self, broker_id: int, partition: str, batch: bytearray, leader_epoch: int = 0) -> None:
        path = self._directory / f"broker-{broker_id}" / "life-1" / partition
        log = self._logs.setdefault((broker_id, partition), Log.open(path, LogConfig()))
        before = log.log_end_offset
        log.append(batch, leader_epoch)
        self.holdings.appended(log, before, memoryview(batch), by_leader=True)


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path)


def plain() -> bytearray:
    return build_batch([Record(0, 0, None, b"value")])


def decision(*, is_commit: bool) -> bytearray:
    begun = Transaction("tx", 7, 3).with_partitions(frozenset({WHERE}), 5)
    decided = begun.decided(is_commit, 6)
    value = transaction_records.encode_value(decided)
    return build_batch([Record(0, 0, transaction_records.encode_key("tx"), value)])


def marker(kind: MarkerType) -> bytearray:
    return build_marker(EndMarker(kind, 0), 7, 3, 0)


@pytest.mark.parametrize(("brokers", "expected"), [((1,), 1), ((1, 3), 0)])
def test_a_record_that_too_few_hold_is_found_when_it_is_shown(cluster, brokers, expected):
    for broker_id in brokers:
        cluster.append(broker_id, "orders-0", plain())
    cluster.holdings.judge_record(*WHERE, 0, 0, "a reader reads")
    assert len(cluster.history.violations) == expected


def test_who_wrote_there_in_an_earlier_epoch_only_may_hold_something_else(cluster):
    cluster.append(1, "orders-0", plain(), leader_epoch=4)
    cluster.append(2, "orders-0", plain(), leader_epoch=3)
    cluster.holdings.judge_record(*WHERE, 4, 0, "a reader reads")
    assert len(cluster.history.violations) == 1


@pytest.mark.parametrize(("brokers", "expected"), [((1,), 1), ((1, 2), 0)])
def test_a_marker_of_a_decision_that_too_few_hold_is_found(cluster, brokers, expected):
    for broker_id in brokers:
        cluster.append(broker_id, f"{TRANSACTION_TOPIC}-1", decision(is_commit=True))
    cluster.append(3, "orders-0", marker(MarkerType.COMMIT))
    assert len(cluster.history.violations) == expected


def test_a_marker_nobody_decided_on_is_found(cluster):
    for broker_id in (1, 2):
        cluster.append(broker_id, f"{TRANSACTION_TOPIC}-1", decision(is_commit=True))
    cluster.append(3, "orders-0", marker(MarkerType.ABORT))
    assert len(cluster.history.violations) == 1


@pytest.mark.parametrize(("brokers", "expected"), [((), 1), ((1,), 1), ((1, 2), 0)])
def test_a_commit_that_too_few_hold_is_found_when_it_succeeds(cluster, brokers, expected):
    for broker_id in brokers:
        cluster.append(broker_id, f"{TRANSACTION_TOPIC}-1", decision(is_commit=True))
    cluster.holdings.judge_commit(7, 3, 0, "EndTxn succeeds")
    assert len(cluster.history.violations) == expected


def test_an_offset_that_too_few_hold_is_found_when_its_commit_succeeds(cluster):
    key = encode_offset_key(OffsetKey("g", WHERE))
    value = encode_offset_value(CommittedOffset(5, metadata="m#1"))
    cluster.append(1, f"{OFFSETS_TOPIC}-0", build_batch([Record(0, 0, key, value)]))
    cluster.holdings.judge_fact(OFFSETS_TOPIC, ("commit", "g", "m#1"), "OffsetCommit succeeds")
    assert len(cluster.history.violations) == 1


def test_what_was_written_before_the_disk_failed_is_held(tmp_path):
    """A follower writes several batches at once; the first may be in its log when the next cannot be written."""
    messages = []

    def append_and_fail(log, batches):
        log.append_as_follower(memoryview(batches)[: len(plain())])
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "Too many open files")

    log = Log.open(tmp_path / "broker-1" / "life-1" / "orders-0", LogConfig())
    watched = _watched(append_and_fail, lambda *what, **how: messages.append((what[1], how)), by_leader=False)
    with pytest.raises(ApiError):
        watched(log, plain())
    assert messages == [(0, {"by_leader": False})]


@pytest.mark.parametrize(("acks", "synced", "is_wrong"), [(-1, 2, False), (-1, 1, True), (1, 1, False), (1, 0, True)])
def test_what_asks_for_an_fsync_is_acknowledged_when_it_is_on_the_disks(cluster, tmp_path, acks, synced, is_wrong):
    batch = plain()
    patch_batch(batch, 0, 3, 0)
    for number in range(1, synced + 1):
        path = tmp_path / f"broker-{number}" / "life-1" / f"{FLUSHED}-0" / "0.log"
        cluster.holdings.synced(path, bytes(batch) + b"\0" * 61)
    cluster.holdings.judge_safe(FLUSHED, 0, 3, "a producer hears Produce succeed", acks=acks)
    assert bool(cluster.history.violations) is is_wrong
