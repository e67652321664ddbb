"""Consumer groups in the other cluster: where each goes on, so that nothing is missed and little is read again.

Kafka's checkpoints (KIP-382) are written so that others understand them, and offsets are committed for groups that have
nobody there. Moving a group there or back is the same translation, once, by hand.
"""

from collections.abc import Iterable, Mapping
from struct import Struct
from typing import NamedTuple

from broker.common.types import TopicPartition
from broker.mirror.mirror_state import MirrorState
from broker.mirror.runs import Runs

_INT16, _INT32, _OFFSETS = Struct(">h"), Struct(">i"), Struct(">qq")
_VERSION = 0


class GroupCheckpoint(NamedTuple):
    """`offset` in `partition` of the target is where a reader goes on that is at `upstream` in the source."""

    group: str
    partition: TopicPartition
    upstream: int
    offset: int
    #: Whether nothing is read again there.
    is_exact: bool


class CheckpointWay(NamedTuple):
    """Where a partition's records are in the other cluster."""

    partition: TopicPartition
    runs: Runs


Ways = Mapping[TopicPartition, CheckpointWay]


def checkpoints(group: str, committed: Mapping[TopicPartition, int], ways: Ways) -> list[GroupCheckpoint]:
    """Return the checkpoints of copied partitions; none where the translated offset is unknown."""
    group_checkpoints = []
    for partition, offset in sorted(committed.items()):
        if partition not in ways:
            continue
        copy, runs = ways[partition]
        place = runs.target_of(offset)
        if place is not None:
            group_checkpoints.append(GroupCheckpoint(group, copy, offset, place.offset, place.is_exact))
    return group_checkpoints


def to_commit(checkpoints: Iterable[GroupCheckpoint], there: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Return the checkpoints that move a group forward in the target, never back."""
    return {
        checkpoint.partition: checkpoint.offset
        for checkpoint in checkpoints
        if checkpoint.offset > there.get(checkpoint.partition, -1)
    }


class MovedOffset(NamedTuple):
    """One line of a group's move. `offset` None: it has no place there, and `reason` says why."""

    source: TopicPartition
    target: TopicPartition | None
    at: int
    offset: int | None
    is_exact: bool
    reason: str


def move(committed: Mapping[TopicPartition, int], there: Ways, back: Ways) -> list[MovedOffset]:
    """Return where a group of one cluster continues in the other. Pure.

    `there`: of the flow to where it goes, by the partitions the group reads. `back`: of the opposite flow, by the
    copies the group reads, for a group that goes on in the originals. A topic that has the same name in both clusters,
    with records of both, is gone on with at the earlier of two places.
    """
    moved = []
    for partition, at in sorted(committed.items()):
        places = []
        if partition in there and (place := there[partition].runs.target_of(at)) is not None:
            places.append((there[partition].partition, place))
        if partition in back and (place := back[partition].runs.source_of(at)) is not None:
            places.append((back[partition].partition, place))
        if not places:
            is_copied = partition in there or partition in back
            reason = "what became of an offset this old is not known any more" if is_copied else "it is not copied"
            moved.append(MovedOffset(partition, None, at, None, False, reason))
            continue
        target, place = min(places, key=lambda place: place[1].offset)
        moved.append(MovedOffset(partition, target, at, place.offset, all(place.is_exact for _, place in places), ""))
    return moved


def places_of(moved: Iterable[MovedOffset]) -> dict[TopicPartition, int]:
    """Return the offsets to commit for a move; if two topics end in one, the earlier offset."""
    offsets: dict[TopicPartition, int] = {}
    for line in moved:
        if line.target is not None and line.offset is not None:
            offsets[line.target] = min(line.offset, offsets.get(line.target, line.offset))
    return offsets


def ways_there(book: MirrorState, flow: str) -> dict[TopicPartition, CheckpointWay]:
    """Return the copies by source partition, as the target's mirror state says of the flow."""
    return {
        partition: CheckpointWay(TopicPartition(position.target, partition.partition), book.runs(flow, partition))
        for (name, partition), position in book.positions.items()
        if name == flow
    }


def ways_back(book: MirrorState, flow: str) -> dict[TopicPartition, CheckpointWay]:
    """Copy in the target → the partition of the source it is of."""
    return {way.partition: CheckpointWay(partition, way.runs) for partition, way in ways_there(book, flow).items()}


def written(checkpoint: GroupCheckpoint) -> tuple[bytes, bytes]:
    """Return key and value of a checkpoint, as Kafka's mirror writes them."""
    key = _text(checkpoint.group) + _text(checkpoint.partition.topic) + _INT32.pack(checkpoint.partition.partition)
    value = _INT16.pack(_VERSION) + _OFFSETS.pack(checkpoint.upstream, checkpoint.offset) + _text("")
    return key, value


def _text(text: str) -> bytes:
    encoded = text.encode()
    return _INT16.pack(len(encoded)) + encoded
