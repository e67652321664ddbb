"""Brings a log back from its directory after a stop, clean or not.

After an unclean stop nothing from the recovery point on is known to be whole: the machine may have died, and then any
page may be missing. Those segments are read from their start, each batch checked (magic, CRC, offsets increasing); at
the first bad byte the file is cut and all later segments are let go: no fsync had promised what is behind a hole, and
other replicas have it. What goes is kept beside the log (`damaged_parts.py`). Segments below the recovery point were
fsynced whole. Damage in them is a failing disk and is never cut away: readers are told when they get there, and later
offsets stay what they are.

Nothing is cut where offsets are missing between two segments, for compaction leaves such gaps, and what remains to tell
one from a loss may itself be lost: see `gaps.py`.

After a clean stop nothing is checked but what lies behind the last index entry of the last segment.

A log with messages of format 0 or 1 is refused as it is: they are no damage, and nothing here could serve them. The
unit is the log, and not its directory as in Kafka: one old topic says nothing of the disk, nor of the other topics.
"""

from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

from broker.common.errors import ApiError, BarnabasError
from broker.common.logs import logger
from broker.log.checkpoints import PARTITION_METADATA
from broker.log.compaction.swap import finish_swaps
from broker.log.config import LogConfig
from broker.log.damaged_parts import DamagedParts
from broker.log.files import TEMPORARY_SUFFIX
from broker.log.leader_epoch_file import SYNCED_EPOCHS, load_leader_epochs, store_leader_epochs
from broker.log.leader_epochs import LeaderEpochs
from broker.log.scan import BadBatchError, OldFormatError, find_old_format
from broker.log.segment import Segment
from broker.log.segment_files import (
    INDEX_SUFFIX,
    LOG_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    segment_path,
)

_log = logger(__name__)


class UnusableLogError(BarnabasError):
    """The log cannot be opened as it is, and no record of it was removed."""


class NoRoomError(UnusableLogError):
    """The log can be opened when its disk has room."""


class LoadedLog(NamedTuple):
    """`segments` are in offset order, at least one, the last one active."""

    segments: list[Segment]
    leader_epochs: LeaderEpochs
    #: Nothing had to be mended, made or left out since a clean stop.
    is_as_left: bool
    #: Its end was damaged or is gone: batches, perhaps, that others were told it holds.
    was_cut: bool
    #: Sealed segments had no offset index: their other indexes may be gone as well.
    has_lost_indexes: bool


def load_log(
    directory: Path,
    config: LogConfig,
    *,
    is_clean: bool,
    recovery_point: int,
    log_start_offset: int,
) -> LoadedLog:
    """Raises OSError, UnusableLogError."""
    try:
        return _load(directory, config, is_clean, recovery_point, log_start_offset)
    except OldFormatError as error:
        raise UnusableLogError(
            f"{directory} holds {error}: rewrite the topic with a Kafka of version 0.11 to 3.9, or remove the "
            "directory; nothing in it was changed."
        ) from None


def _load(
    directory: Path,
    config: LogConfig,
    is_clean: bool,
    recovery_point: int,
    log_start_offset: int,
) -> LoadedLog:
    finish_swaps(directory)
    base_offsets = _base_offsets(directory)
    segments = _segments(directory, config, base_offsets)
    _refuse_old_format(segments)
    has_lost_indexes = not _remove_leftovers(directory, set(base_offsets)).issuperset(base_offsets[:-1])
    epochs = load_leader_epochs(directory)
    stored = epochs.entries if epochs is not None else None
    parts = DamagedParts(directory)
    is_as_left = was_cut = False
    if segments and is_clean:
        is_as_left = _resume(directory, segments[-1], parts)
        was_cut = not is_as_left
    elif segments:
        segments, damage = _recover(directory, segments, recovery_point, epochs, parts)
        was_cut = damage is not None
    if not segments or segments[-1].next_offset < log_start_offset:
        # A log is noted as its topic's when its first segment is there.
        is_bereft = not segments and (directory / PARTITION_METADATA).exists()
        segments, is_as_left = [_start_anew(directory, config, segments, log_start_offset, parts)], False
        was_cut = was_cut or log_start_offset > 0 or is_bereft
    if epochs is None:
        epochs = _epochs_of(directory, segments)
    epochs.truncate_from_end(segments[-1].next_offset)
    epochs.truncate_from_start(max(segments[0].base_offset, log_start_offset))
    if epochs.entries != (stored or ()):
        store_leader_epochs(directory, epochs)
        is_as_left = False
    return LoadedLog(segments, epochs, is_as_left, was_cut, has_lost_indexes)


def _base_offsets(directory: Path) -> list[int]:
    return sorted(
        int(path.stem) for path in directory.glob("*" + LOG_SUFFIX) if path.stem.isdigit() and len(path.stem) == 20
    )


def _remove_leftovers(directory: Path, base_offsets: set[int]) -> set[int]:
    """Remove the files of a step that a stop interrupted: half-written temporaries, indexes without a segment.

    Return the base offsets of segments that have an offset index.
    """
    for path in directory.glob("*" + TEMPORARY_SUFFIX):
        path.unlink()
    indexed = set()
    for suffix in (INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX):
        for path in directory.glob("*" + suffix):
            if not path.stem.isdigit():
                continue
            if int(path.stem) not in base_offsets:
                path.unlink()
            elif suffix == INDEX_SUFFIX:
                indexed.add(int(path.stem))
    return indexed


def _segments(directory: Path, config: LogConfig, base_offsets: list[int]) -> list[Segment]:
    sizes = [segment_path(directory, base, LOG_SUFFIX).stat().st_size for base in base_offsets]
    return [
        Segment(directory, base, size, config.index_interval_bytes)
        for base, size in zip(base_offsets, sizes, strict=True)
    ]


def _refuse_old_format(segments: list[Segment]) -> None:
    """Raise OldFormatError if the first or the last segment with messages begins with one of an old format.

    A topic that was ever written in it has its oldest messages so. Should others lie in between, who reads them is
    told.
    """
    first = next((segment for segment in segments if segment.size_bytes), None)
    last = next((segment for segment in reversed(segments) if segment.size_bytes), None)
    for segment in (first, last) if last is not first else (first,):
        error = find_old_format(segment.files.log) if segment is not None else None
        if error is not None:
            raise error


def _resume(directory: Path, active: Segment, parts: DamagedParts) -> bool:
    """Return whether it is as it was left."""
    damage = active.resume()
    if damage is not None:
        _log.warning("log end damaged despite a clean stop", directory=str(directory), reason=str(damage))
        damage = active.recover() or damage
        _cut(directory, active, damage, parts)
    return damage is None


def _recover(
    directory: Path,
    segments: list[Segment],
    recovery_point: int,
    epochs: LeaderEpochs | None,
    parts: DamagedParts,
) -> tuple[list[Segment], BadBatchError | None]:
    """Check the segments from the one with the recovery point on; what is left of `segments`, the last one active, and
    what ended them too early. `epochs` are those of the file: after a power failure they may be of before.
    """
    first = max(0, bisect_right([segment.base_offset for segment in segments], recovery_point) - 1)
    for place in range(first, len(segments)):
        segment = segments[place]
        damage = segment.recover(epochs)
        later = segments[place + 1 :]
        if damage is not None:
            # Before the cut: a start that is stopped in between is to find the damage again.
            _let_go(directory, later, parts, f"damage before it: {damage.reason}")
            _cut(directory, segment, damage, parts)
            return segments[: place + 1], damage
        if later:
            segment.seal()
            segment.release()
    return segments, None


def _cut(directory: Path, segment: Segment, damage: BadBatchError, parts: DamagedParts) -> None:
    """Cut the file of `segment` where its intact batches end."""
    bytes_cut = segment.file.size_bytes - segment.size_bytes
    if not bytes_cut:
        return
    kept = parts.keep_tail(segment)
    _log.warning(
        "log end cut",
        directory=str(directory),
        segment=segment.base_offset,
        position=segment.size_bytes,
        bytes_cut=bytes_cut,
        reason=damage.reason,
        log_end_offset=segment.next_offset,
        kept_in="nowhere: a write that a stop cut off" if kept is None else str(kept),
    )
    segment.cut_tail()


def _let_go(directory: Path, segments: list[Segment], parts: DamagedParts, reason: str) -> None:
    """Move `segments`, the last ones of the log, out of its directory, the very last first."""
    for segment in reversed(segments):
        kept = parts.keep_segment(segment)
        _log.error(
            "segment set aside",
            directory=str(directory),
            segment=segment.base_offset,
            size_bytes=segment.size_bytes,
            reason=reason,
            kept_in=str(kept),
        )
    parts.made_durable()


def _start_anew(
    directory: Path, config: LogConfig, segments: list[Segment], log_start_offset: int, parts: DamagedParts
) -> Segment:
    """Delete all segments and create an empty one at `log_start_offset`: the log was truncated, or is new."""
    _let_go(directory, segments, parts, f"the log is to start at {log_start_offset}, behind its end")
    return Segment.create(directory, log_start_offset, config.index_interval_bytes)


def _epochs_of(directory: Path, segments: list[Segment]) -> LeaderEpochs:
    """Return epochs from the headers of all readable batches and, where compaction removed some, from an earlier
    file.
    """
    epochs = load_leader_epochs(directory, SYNCED_EPOCHS) or LeaderEpochs()
    for segment in segments:
        try:
            for _, header in segment.batches():
                epochs.confirm(header.partition_leader_epoch, header.base_offset, header.last_offset)
        except ApiError as damage:
            _log.error("leader epochs unknown behind damage", directory=str(directory), reason=damage.message)
    return epochs
