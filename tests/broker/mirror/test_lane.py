"""What a lane remembers after a write of which the target took nothing: no request, and no empty batch."""

from types import SimpleNamespace

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.mirror.batches import copy_of
from broker.mirror.lane import Copied, Flow, MirrorLane
from broker.mirror.ledger import LEDGER
from broker.mirror.producer import BatchWrite
from broker.mirror.reader import Portion
from broker.records.batch import parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record

SOURCE = TopicPartition("orders", 0)
OWN = ("north",)
MODES = pytest.mark.parametrize("exactly_once", [False, True], ids=["at least once", "exactly once"])


class ScriptedProducer:
    """Refuses the partitions in `refuses` with NOT_ENOUGH_REPLICAS; keeps what it was asked for in `calls`."""

    producer_id = 7

    def __init__(self):
        self.refuses = set()
        self.calls = []

    def write(self, batches, refused_s=0.0):
        self.calls.append(("write", *batches))
        error = ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, "below min.insync.replicas")
        return {tp: BatchWrite([], error) if tp in self.refuses else BatchWrite([5], None) for tp in batches}

    def commit(self):
        self.calls.append(("commit",))

    def abort(self):
        self.calls.append(("abort",))


def begun_lane(producer, *, exactly_once):
    ledger = SimpleNamespace(producers={}, read_to_end=lambda **_options: None)
    copied = Copied(SOURCE, SOURCE)
    lane = MirrorLane(Flow("north->south", "north", "south", exactly_once), [copied], ledger, lambda _id: producer)
    lane.fence()
    lane.begin()
    producer.calls.clear()
    return lane


def one_portion():
    batch = memoryview(build_batch([Record(0, 1, None, b"0")]))
    copy = copy_of(parse_batch_header(batch), batch, 0)
    return Portion(SOURCE, 1, ((copy, OWN),), 1, 1)


@MODES
def test_a_refused_write_leaves_nothing_to_remember(exactly_once):
    producer = ScriptedProducer()
    lane = begun_lane(producer, exactly_once=exactly_once)
    producer.refuses.add(SOURCE)
    [refusal] = lane.write([one_portion()])
    assert refusal.code is ErrorCode.NOT_ENOUGH_REPLICAS
    lane.save()
    assert lane.is_saved
    # The transaction, in which nothing is, ends: an open one would hold up readers of committed records.
    assert producer.calls == [("write", SOURCE), *([("abort",)] if exactly_once else [])]


@MODES
def test_what_was_taken_is_remembered_once(exactly_once):
    producer = ScriptedProducer()
    lane = begun_lane(producer, exactly_once=exactly_once)
    assert lane.write([one_portion()]) == []
    lane.save()
    lane.save()
    assert producer.calls == [("write", SOURCE), ("write", LEDGER), ("commit",)]
