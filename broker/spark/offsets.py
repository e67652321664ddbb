"""Offsets of a stream as plain data: `{topic: {partition: offset}}` with partitions as text, the form Spark keeps.

What to read next is decided here, without a cluster: where to start, how much fits under a limit, and the range of each
partition between two such positions. An offset is the next one to read, so a range is [start, end).
"""

import json
from collections.abc import Mapping
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


class DataLossError(Exception):
    """Records that had to be read are gone; `failOnDataLoss=false` goes on without them."""


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


def parse_position(text: str) -> int | Offsets:
    """EARLIEST, LATEST, or offsets by partition from `{"topic": {"0": 23, "1": -2}}`; else ValueError."""
    word = text.strip().lower()
    if word in ("earliest", "latest"):
        return EARLIEST if word == "earliest" else LATEST
    try:
        return from_json(json.loads(text))
    except (ValueError, AttributeError, TypeError):
        raise ValueError(f'{text!r} is not "earliest", "latest" or {{"topic": {{"0": offset}}}}') from None


def resolve(position: int | Offsets, earliest: Offsets, latest: Offsets) -> Offsets:
    """The offset of every partition there is. One that a position by partition leaves out starts at its earliest."""
    if position == EARLIEST:
        return dict(earliest)
    if position == LATEST:
        return dict(latest)
    unknown = set(position) - set(latest)
    if unknown:
        raise ValueError(f"there is no partition {', '.join(map(str, sorted(unknown)))}")
    special = {EARLIEST: earliest, LATEST: latest}
    return {
        partition: special[chosen][partition] if (chosen := position.get(partition, EARLIEST)) in special else chosen
        for partition in latest
    }


def advance(start: Offsets, latest: Offsets, fail_on_data_loss: bool) -> Offsets:
    """Where the partitions end now, never behind where the stream already is.

    Raises DataLossError for a partition that ends before the stream's position or is no longer there.
    """
    lost = sorted(partition for partition, offset in start.items() if latest.get(partition, -1) < offset)
    if lost and fail_on_data_loss:
        partition = lost[0]
        raise DataLossError(
            f"{partition} was read up to {start[partition]} and now ends at {latest.get(partition, 'no partition')}: "
            "it was deleted or cut. Start with a new checkpoint, or set failOnDataLoss=false to go on."
        )
    return {partition: max(start.get(partition, 0), latest.get(partition, 0)) for partition in {*start, *latest}}


def limit(start: Offsets, end: Offsets, max_offsets: int) -> Offsets:
    """An end with at most `max_offsets` offsets from `start`, each partition in proportion to what it has."""
    backlog = {partition: end[partition] - start.get(partition, 0) for partition in end}
    total = sum(backlog.values())
    if total <= max_offsets:
        return end
    chosen = {partition: waiting * max_offsets // total for partition, waiting in backlog.items()}
    spare = max_offsets - sum(chosen.values())
    for partition in sorted(backlog, key=lambda p: (-(backlog[p] * max_offsets % total), p))[:spare]:
        chosen[partition] += 1
    return {partition: start.get(partition, 0) + chosen[partition] for partition in end}


def ranges(start: Offsets, end: Offsets) -> list[OffsetRange]:
    """The ranges that hold anything. A partition that `start` does not know is new and read from its first record."""
    between = (OffsetRange(partition, start.get(partition, 0), end[partition]) for partition in sorted(end))
    return [part for part in between if part.start < part.end]
