"""Brings the segments of a partition directory back after a stop, clean or not.

After an unclean stop of the process every byte written is still in the page cache, so only the end of the last segment
can be torn: that segment is read from its start, each batch checked (magic, CRC, offsets increasing), and the file is
cut at the first bad byte. Nothing behind that byte was acknowledged by `append`. Sealed segments were whole when they
were sealed; their indexes are checked and repaired, and damage in their last batches (a machine that died, a disk) is
reported but not cut away: readers are told when they get there, and later offsets stay what they are.

After a clean stop nothing is checked but what lies behind the last index entry of the last segment.
"""

from pathlib import Path

from broker.common.logs import logger
from broker.log.config import LogConfig
from broker.log.files import TEMPORARY_SUFFIX
from broker.log.segment import INDEX_SUFFIX, LOG_SUFFIX, Segment, segment_path

_log = logger(__name__)


def load_segments(directory: Path, config: LogConfig, *, is_clean: bool) -> list[Segment]:
    """All segments in offset order, the last one active, at least one. Raises OSError."""
    base_offsets = _base_offsets(directory)
    _remove_leftovers(directory, set(base_offsets))
    if not base_offsets:
        return [Segment.create(directory, 0, config.index_interval_bytes)]
    sizes = {base: segment_path(directory, base, LOG_SUFFIX).stat().st_size for base in base_offsets}
    *sealed_offsets, last_offset = base_offsets
    segments = [Segment(directory, base, sizes[base], config.index_interval_bytes) for base in sealed_offsets]
    if not is_clean:
        _check_sealed(directory, segments)
    active = Segment(directory, last_offset, sizes[last_offset], config.index_interval_bytes)
    _activate(directory, active, is_clean=is_clean)
    return [*segments, active]


def _base_offsets(directory: Path) -> list[int]:
    return sorted(
        int(path.stem) for path in directory.glob("*" + LOG_SUFFIX) if path.stem.isdigit() and len(path.stem) == 20
    )


def _remove_leftovers(directory: Path, base_offsets: set[int]) -> None:
    """Files of a step that a stop interrupted: half-written temporaries, indexes without their segment."""
    for path in directory.glob("*" + TEMPORARY_SUFFIX):
        path.unlink()
    for path in directory.glob("*" + INDEX_SUFFIX):
        if path.stem.isdigit() and int(path.stem) not in base_offsets:
            path.unlink()


def _check_sealed(directory: Path, segments: list[Segment]) -> None:
    for segment in segments:
        damage = segment.check_index()
        if damage is not None:
            _log.error(
                "sealed segment damaged",
                directory=str(directory),
                segment=segment.base_offset,
                position=damage.position,
                reason=damage.reason,
            )


def _activate(directory: Path, segment: Segment, *, is_clean: bool) -> None:
    if is_clean:
        damage = segment.resume()
        if damage is None:
            return
        _log.warning("log end damaged despite a clean stop", directory=str(directory), reason=str(damage))
    bytes_before = segment_path(directory, segment.base_offset, LOG_SUFFIX).stat().st_size
    damage = segment.recover()
    if damage is not None:
        _log.warning(
            "log end cut",
            directory=str(directory),
            segment=segment.base_offset,
            position=segment.size_bytes,
            bytes_cut=bytes_before - segment.size_bytes,
            reason=damage.reason,
            log_end_offset=segment.next_offset,
        )
