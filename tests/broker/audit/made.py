"""Increments as a test wants them."""

from broker.audit.increment import NO_RANGE, AuditTier, Chain, Increment
from broker.audit.tally import CountedRecord, WindowCounter
from broker.common.types import TopicPartition

MINUTE = 60_000


def windows_of(*records):
    """`records` are (timestamp, offset, value)."""
    counter, partition = WindowCounter(), TopicPartition("t", 0)
    for timestamp_ms, offset, value in records:
        counter.add(partition, CountedRecord(timestamp_ms, offset, None, value))
    return dict(counter.drain()).get(partition, {})


def increment_of(
    tier, *records, source="s", epoch="e", sequence=0, start=None, end=None, at_ms=0, is_last=True, partition=0
):
    """`start` and `end` are those of the records, if it is a tier that covers offsets."""
    first, last = (records[0][1], records[-1][1] + 1) if records else (0, 0)
    if tier is AuditTier.PRODUCED:
        first = last = NO_RANGE
    return Increment(
        Chain(tier, source, "t", partition),
        epoch,
        sequence,
        at_ms,
        windows_of(*records),
        first if start is None else start,
        last if end is None else end,
        is_last,
    )


def records(*offsets, minute=0):
    return [(minute * MINUTE + 1000 + offset, offset, b"value %d" % offset) for offset in offsets]
