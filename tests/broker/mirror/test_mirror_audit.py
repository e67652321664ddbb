"""What a mirror tells the audit of its source: all that is in the other cluster, by the source's names and offsets."""

import re
from contextlib import contextmanager

from broker.audit.increment import RETURNING, AuditTier
from broker.audit.ledger import AuditState
from broker.audit.tally import MODULUS, CountedRecord, RecordTally
from broker.common.bounded_patterns import BoundedPattern
from broker.common.types import TopicPartition
from broker.mirror.audit import MirrorAudit
from broker.mirror.batches import Copy
from broker.mirror.naming import NameFilter, TopicNaming, copied_topics, is_internal
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.audit_ledger import merged
from tests.barnabas_cluster import await_true
from tests.broker.mirror.conftest import mirroring
from tests.broker.mirror.test_mirror_task import MODES, topic  # noqa: F401 (a fixture)

P = TopicPartition("t", 0)


class AuditRecorder:
    """A ledger that is told at once."""

    def __init__(self):
        self.ledger = AuditState()

    def send(self, increments):
        for increment in increments:
            assert self.ledger.add(increment)

    @contextmanager
    def audit(self, flow="north->south"):
        yield MirrorAudit(flow, self.send, lambda: 1_700_000_000_000)

    def story(self, partition=P, source="north->south"):
        return next(
            story
            for chain, story in self.ledger.of(partition.topic, AuditTier.MIRRORED).items()
            if (chain.partition, chain.source) == (partition.partition, source)
        )


def copy_of(*offsets, next_offset=None, stretches=None):
    records = [
        Record(number, 1_699_999_999_000 + offset, None, b"%d" % offset) for number, offset in enumerate(offsets)
    ]
    whole = stretches or ((offsets[0], len(offsets)),)
    return Copy(build_batch(records), whole, len(offsets), next_offset or offsets[-1] + 1, 0, 0)


def whole(windows):
    return sum(windows, start=RecordTally())


def test_ranges_of_the_source_follow_one_another_whatever_has_no_record():
    recorder = AuditRecorder()
    with recorder.audit() as audit:
        audit.began(P, 5)
        audit.took(P, copy_of(5, 6, 7))
        audit.tell({P: 8})
        audit.took(P, copy_of(9, 10, 14, stretches=((9, 2), (14, 1)), next_offset=20))
        audit.tell({P: 22})
        audit.tell({P: 22})
    story = recorder.story()
    assert [(increment.start, increment.end) for increment in story.increments] == [(5, 8), (8, 22)]
    tally = whole(tally for increment in story.increments for tally in increment.windows.values())
    assert (tally.count, tally.first_offset, tally.last_offset) == (6, 5, 14)
    assert (
        tally.checksum
        == sum(CountedRecord(0, 0, None, b"%d" % n).tally().checksum for n in (5, 6, 7, 9, 10, 14)) % MODULUS
    )


def test_what_does_not_go_back_is_told_aside_and_has_no_latency():
    recorder = AuditRecorder()
    with recorder.audit() as audit:
        audit.began(P, 0)
        audit.took(P, copy_of(0, 1))
        audit.took(P, copy_of(2, 3, 4), is_returning=True)
        audit.tell({P: 5})
    (increment,) = recorder.story().increments
    assert whole(increment.windows.values()).count == 2
    assert whole(increment.aside[RETURNING].values()).count == 3
    assert merged(increment.latencies.values()).ages.count == 2


def test_what_was_not_told_before_a_mirror_goes_back_is_told_when_it_comes_again():
    recorder = AuditRecorder()
    with recorder.audit() as audit:
        audit.began(P, 0)
        audit.took(P, copy_of(0, 1))
        audit.tell({P: 2})
        audit.took(P, copy_of(2, 3))
        audit.began(P, 1)
        audit.took(P, copy_of(1, 2, 3))
        audit.tell({P: 4})
    assert [(increment.start, increment.end) for increment in recorder.story().increments] == [(1, 4)]
    assert recorder.story().gaps == [(0, 1)]


def test_a_batch_that_nobody_can_unpack_is_a_gap_and_stops_nothing():
    recorder = AuditRecorder()
    broken = copy_of(2, 3)
    broken.batch[-1] ^= 1
    with recorder.audit() as audit:
        audit.began(P, 0)
        audit.took(P, copy_of(0, 1))
        audit.took(P, broken)
        audit.took(P, copy_of(4))
        audit.tell({P: 5})
    story = recorder.story()
    assert story.gaps == [(2, 4)]
    assert not story.is_doubtful


def test_memory_is_bounded_by_telling_early():
    recorder = AuditRecorder()
    with recorder.audit() as audit:
        audit.began(P, 0)
        audit._copied._windows_max = 2
        offsets = [0, 60_000, 120_000, 180_000, 240_000]
        audit.took(P, copy_of(*offsets, stretches=tuple((offset, 1) for offset in offsets)))
        assert len(recorder.story().increments) == 2
        audit.tell({P: 240_001})
    assert (recorder.story().gaps, recorder.story().end) == ([], 240_001)


def test_what_the_audit_of_one_cluster_has_counted_is_not_copied_into_another():
    assert is_internal("_barnabas_audit")
    everything = NameFilter((BoundedPattern(re.compile(".*")),), ())
    names = copied_topics(["orders", "_barnabas_audit"], everything, TopicNaming("a", "b", keeps_names=True))
    assert names == {"orders": "orders"}


@MODES
def test_two_mirrors_tell_what_is_copied_as_that_and_no_copy_as_an_original(north, south, topic, exactly_once):  # noqa: F811
    for side in (north, south):
        side.create(topic)
    north.write(topic, [f"from north {number}" for number in range(30)])
    south.write(topic, [f"from south {number}" for number in range(20)])
    at_north, at_south, partition = AuditRecorder(), AuditRecorder(), TopicPartition(topic, 0)

    def settled():
        return all(
            recorder.story(partition, flow).end >= 50 and len(side.read(topic)) == 50
            for recorder, flow, side in ((at_north, "north->south", north), (at_south, "south->north", south))
        )

    with at_north.audit() as there, at_south.audit("south->north") as back:
        for audit in (there, back):
            audit._now_ms = lambda: 2_000_000_000_000
        with (
            mirroring(north, south, {topic: 1}, exactly_once=exactly_once, audit=there),
            mirroring(south, north, {topic: 1}, exactly_once=exactly_once, audit=back),
        ):
            await_true(lambda: at_north.ledger.stories and at_south.ledger.stories, "both tell")
            await_true(settled, "all is copied and told")
    for recorder, flow, own, copies in ((at_north, "north->south", 30, 20), (at_south, "south->north", 20, 30)):
        story = recorder.story(partition, flow)
        assert (story.start, story.gaps) == (0, [])
        assert whole(tally for increment in story.increments for tally in increment.windows.values()).count == own
        asides = (windows for increment in story.increments for windows in increment.aside.values())
        assert whole(tally for windows in asides for tally in windows.values()).count == copies
