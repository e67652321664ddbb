"""Where the producer state is kept between two lives of a log: `<offset>.snapshot`, and the batches behind it.

A snapshot is taken when a segment is rolled and at a clean stop, so loading reads the headers of one segment at most.
It is written without fsync: it carries a CRC, and a damaged one only means that an older one, or the log itself, is
read instead.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.log.files import TEMPORARY_SUFFIX
from broker.log.producer_snapshot_format import NotedAborts, decode_snapshot
from broker.log.producer_state import PartitionProducers
from broker.log.segment import Segment
from broker.log.transaction_index import AbortedRange, TransactionIndex
from broker.records.batch import NO_PRODUCER_ID, BatchHeader
from broker.records.control import EndMarker, MarkerType, parse_marker

SNAPSHOT_SUFFIX = ".snapshot"
#: The newest, and one older should that be damaged.
_SNAPSHOTS_KEPT = 2

_log = logger(__name__)


class StoredProducers(NamedTuple):
    """The producers as of `offset`, and what the transaction index held then; None if that was not noted."""

    state: PartitionProducers
    offset: int
    aborts: tuple[NotedAborts, ...] | None


class LoadedProducers(NamedTuple):
    """`is_noted`: the newest snapshot notes what the transaction index holds up to it."""

    state: PartitionProducers
    is_noted: bool


def open_producers(
    directory: Path,
    segments: Sequence[Segment],
    log_end_offset: int,
    index: TransactionIndex,
    *,
    has_lost_indexes: bool,
) -> LoadedProducers:
    """As `load_producers`, at a start: files of the transaction index may be missing or damaged since the stop.

    The index below the newest snapshot was on disk before that was, which notes what it held. If it holds anything
    else, it is rebuilt from all batches of the log. A snapshot of an earlier version, or of Kafka, notes nothing: then
    a log that `has_lost_indexes` counts as one whose transaction index is damaged, as in Kafka (LogSegment.recover).
    Raises OSError.
    """
    remove_snapshots_beyond(directory, log_end_offset)
    stored = newest_snapshot(directory, segments)
    base_offsets = [segment.base_offset for segment in segments]
    if stored.aborts is not None:
        is_intact = index.restore(base_offsets, stored.aborts)
    else:
        is_all_replayed = stored.offset <= base_offsets[0]
        is_intact = index.is_sound(base_offsets) and (is_all_replayed or not has_lost_indexes)
        if is_intact and is_all_replayed:
            index.remove()
    if not is_intact:
        _log.warning("transaction index damaged, rebuilt", directory=str(directory))
        index.remove()
        _replay(PartitionProducers(), segments, segments[0].base_offset, log_end_offset, index)
    is_noted = is_intact and (stored.aborts is not None or not index.has_entries)
    return LoadedProducers(_replayed(stored, segments, log_end_offset, index), is_noted)


def load_producers(
    directory: Path, segments: Sequence[Segment], log_end_offset: int, index: TransactionIndex
) -> PartitionProducers:
    """Return the state as of `log_end_offset`: the newest sound snapshot and what was written after it. Raises OSError.

    The index of aborted transactions is made anew from there on. Snapshots from beyond the log's end belong to records
    that are cut off; they are removed.
    """
    remove_snapshots_beyond(directory, log_end_offset)
    return _replayed(newest_snapshot(directory, segments), segments, log_end_offset, index)


def _replayed(
    stored: StoredProducers, segments: Sequence[Segment], log_end_offset: int, index: TransactionIndex
) -> PartitionProducers:
    index.cut(stored.offset)
    _replay(stored.state, segments, stored.offset, log_end_offset, index)
    return stored.state


def newest_snapshot(directory: Path, segments: Sequence[Segment]) -> StoredProducers:
    """Return the newest sound one; no producers as of 0 if there is none. Raises OSError.

    One from before the log of `segments` begins is none: of what was written in between, and is deleted, nobody can
    tell, and to know an old sequence number of a producer is worse than to know none.
    """
    for offset, path in reversed(_snapshots(directory)):
        if offset < segments[0].base_offset:
            break
        snapshot = decode_snapshot(path.read_bytes())
        if snapshot is not None:
            return StoredProducers(PartitionProducers.of(snapshot), offset, snapshot.aborts)
        _log.warning("producer snapshot damaged", path=str(path))
    return StoredProducers(PartitionProducers(), 0, None)


def remove_snapshots_beyond(directory: Path, offset: int) -> bool:
    """Return whether there were any. Raises OSError."""
    beyond = [path for end_offset, path in _snapshots(directory) if end_offset > offset]
    for path in beyond:
        path.unlink()
    return bool(beyond)


def _replay(
    state: PartitionProducers,
    segments: Sequence[Segment],
    from_offset: int,
    log_end_offset: int,
    index: TransactionIndex,
) -> None:
    if from_offset >= log_end_offset:
        return
    next_bases = [*(segment.base_offset for segment in segments[1:]), log_end_offset]
    for segment, next_base in zip(segments, next_bases, strict=True):
        if next_base <= from_offset:
            continue
        try:
            _note_batches(state, segment, from_offset, index)
        except ApiError as damage:
            _log.error("producers unknown behind damage", base_offset=segment.base_offset, reason=damage.message)


def _note_batches(state: PartitionProducers, segment: Segment, from_offset: int, index: TransactionIndex) -> None:
    for position, header in segment.batches():
        if header.producer_id == NO_PRODUCER_ID or header.base_offset < from_offset:
            continue
        if header.is_control:
            marker = parse_marker(segment.read_batch(position, header))
            if marker is not None:
                note_aborted(state, index, segment.base_offset, header, header.base_offset, marker)
                state.note_marker(header, header.base_offset, marker.coordinator_epoch)
        else:
            state.note(header, header.base_offset)


def note_aborted(
    state: PartitionProducers,
    index: TransactionIndex,
    segment_base_offset: int,
    header: BatchHeader,
    base_offset: int,
    marker: EndMarker,
) -> None:
    """Note an aborted transaction before its marker is written at `base_offset`. `state` does
    not know of it yet. Raises OSError.
    """
    first_offset = state.first_open_offset_of(header.producer_id)
    if first_offset is None or marker.type is not MarkerType.ABORT:
        return
    open_from = state.first_open_offset_besides(header.producer_id)
    last_stable_offset = base_offset + 1 if open_from is None else open_from
    aborted = AbortedRange(header.producer_id, first_offset, base_offset, last_stable_offset)
    index.append(segment_base_offset, aborted)


def store_producers(
    directory: Path, state: PartitionProducers, log_end_offset: int, aborts: Sequence[NotedAborts]
) -> bool:
    """Take a snapshot, with what the transaction index holds, and drop the oldest ones. Return whether it was taken.

    A snapshot that cannot be written is no harm.
    """
    path = directory / f"{log_end_offset:020d}{SNAPSHOT_SUFFIX}"
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        temporary.write_bytes(state.encode(aborts))
        temporary.replace(path)
    except OSError as error:
        _log.warning("producer snapshot not written", path=str(path), reason=str(error))
        return False
    try:
        for _, old in _snapshots(directory)[:-_SNAPSHOTS_KEPT]:
            old.unlink()
    except OSError as error:
        _log.warning("old producer snapshots stay", directory=str(directory), reason=str(error))
    return True


def _snapshots(directory: Path) -> list[tuple[int, Path]]:
    snapshots = ((path.stem, path) for path in directory.glob("*" + SNAPSHOT_SUFFIX))
    return sorted((int(stem), path) for stem, path in snapshots if stem.isdigit())
