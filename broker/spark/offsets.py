"""Offsets of a stream as plain data: `{topic: {partition: offset}}` with partitions as text, the form Spark keeps.

What to read next is decided here, without a cluster: where to start, how much fits under a limit, and the range of each
partition between two such positions. An offset is the next one to read, so a range is [start, end).
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from broker.common.types import TopicPartition

#: In `startingOffsets`, as in Spark's Kafka connector.
LATEST, EARLIEST = -1, -2

#: As Spark passes and stores them.
OffsetJson = dict[str, dict[str, int]]
Offsets = dict[TopicPartition, int]


class OffsetRange(NamedTuple):
    """The records of one partition from `start` up to, not including, `end`."""

    partition: TopicPartition
    start: int
    end: int


TO_GO_ON = "Start with a new checkpoint, or set fail.on.data.loss=false (the source's option failOnDataLoss) to go on."


class DataLossError(Exception):
    """Records to be read were deleted; `fail.on.data.loss=false` continues without them."""


def to_json(offsets: Mapping[TopicPartition, int]) -> OffsetJson:
    document: OffsetJson = {}
    for partition in sorted(offsets):
        document.setdefault(partition.topic, {})[str(partition.partition)] = offsets[partition]
    return document


def from_json(document: Mapping[str, Mapping[str, int]]) -> Offsets:
    return {
        TopicPartition(topic, int(partition)): int(offset)
        for topic, partitions in document.items()
        for partition, offset in partitions.items()
    }


def resolve(position: Mapping[TopicPartition, int], earliest: Offsets, latest: Offsets) -> Offsets:
    """Return the offset of every partition, EARLIEST and LATEST replaced. ValueError unless exactly those there are
    named.
    """
    missing, unknown = sorted(latest.keys() - position.keys()), sorted(position.keys() - latest.keys())
    if missing or unknown:
        wrong = f"{', '.join(map(str, missing))} is left out" if missing else f"there is no {unknown[0]}"
        raise ValueError(f"offsets by partition must name every partition (-1 is latest, -2 earliest): {wrong}")
    special = {EARLIEST: earliest, LATEST: latest}
    return {partition: special[at][partition] if at in special else at for partition, at in position.items()}


def lost(start: Offsets, latest: Offsets) -> list[TopicPartition]:
    """Return partitions that end before the stream's position, or no longer exist."""
    return sorted(partition for partition, offset in start.items() if latest.get(partition, -1) < offset)


def check_nothing_lost(start: Offsets, latest: Offsets) -> None:
    """Raises DataLossError that names a partition of `lost`."""
    for partition in lost(start, latest):
        raise DataLossError(
            f"{partition} was read up to {start[partition]} and now ends at {latest.get(partition, 'no partition')}: "
            f"it was deleted or cut. {TO_GO_ON}"
        )


def limit(start: Offsets, end: Offsets, max_offsets: int) -> Offsets:
    """Return an end with at most `max_offsets` offsets from `start`, each partition in proportion to what it has."""
    backlog = {partition: max(0, end[partition] - start.get(partition, 0)) for partition in end}
    total = sum(backlog.values())
    if total <= max_offsets:
        return end
    chosen = {partition: waiting * max_offsets // total for partition, waiting in backlog.items()}
    spare = max_offsets - sum(chosen.values())
    for partition in sorted(backlog, key=lambda p: (-(backlog[p] * max_offsets % total), p))[:spare]:
        chosen[partition] += 1
    return {
        partition: start.get(partition, 0) + chosen[partition] if backlog[partition] else end[partition]
        for partition in end
    }


def ranges(start: Offsets, end: Offsets) -> list[OffsetRange]:
    """Return the ranges that hold anything. A partition that `start` does not know is new and read from its first
    record.
    """
    between = (OffsetRange(partition, start.get(partition, 0), end[partition]) for partition in sorted(end))
    return [part for part in between if part.start < part.end]


def backlog(start: Offsets, end: Offsets) -> int:
    """Return the number of offsets between the two; a new partition counts from its first."""
    return sum(max(0, offset - start.get(partition, 0)) for partition, offset in end.items())


def split(whole: list[OffsetRange], at_least: int | None, max_records: int | None) -> list[OffsetRange]:
    """Return the ranges in pieces of at most `max_records` offsets, and so many pieces that there are about `at_least`.

    Larger ranges get more pieces; together the pieces are what `whole` is.
    """
    pieces = [piece for item in whole for piece in _cut(item, -(-_size(item) // max_records) if max_records else 1)]
    total = sum(map(_size, pieces))
    if at_least is None or len(pieces) >= at_least or not total:
        return pieces
    return [piece for item in pieces for piece in _cut(item, max(1, round(_size(item) * at_least / total)))]


def _size(range_: OffsetRange) -> int:
    return range_.end - range_.start


def _cut(range_: OffsetRange, pieces: int) -> list[OffsetRange]:
    pieces = min(pieces, _size(range_))
    edges = [range_.start + _size(range_) * number // pieces for number in range(pieces + 1)]
    return [OffsetRange(range_.partition, *edge) for edge in pairwise(edges)]
