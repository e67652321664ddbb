"""Finds out what is left of producers after the end of a log was cut off.

Nearly always enough is remembered. If not, the log is read from its end backwards: a producer that was at work in what
went was most likely at work right before it. Reading it from its last snapshot on, as at a start, would take seconds.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.log.producer_snapshots import newest_snapshot
from broker.log.producer_state import PartitionProducers
from broker.log.segment import Segment
from broker.records.batch import BatchHeader

_PIECE_BYTES = 256 * 1024

_log = logger(__name__)


def forget_cut_batches(
    state: PartitionProducers, directory: Path, segments: Sequence[Segment], end_offset: int
) -> None:
    """Take `state` back to `end_offset`, where the log ends now, and beyond which there is no snapshot. Raises OSError.

    Of a producer that has to be looked for, perhaps fewer batches are remembered than it wrote, but always the last.
    """
    wanted = state.forget_from(end_offset)
    if not wanted:
        return
    snapshot, from_offset, _ = newest_snapshot(directory, segments)
    try:
        _search(state, wanted, _pieces_backwards(segments, from_offset))
    except ApiError as damage:
        _log.error("producers are as of their last snapshot", directory=str(directory), reason=damage.message)
    for producer_id in wanted:
        state.recall(producer_id, snapshot)


def _search(state: PartitionProducers, wanted: set[int], pieces: Iterator[list[BatchHeader]]) -> None:
    """Note what is found of those `wanted`, who then no longer are."""
    while wanted and (headers := next(pieces, None)) is not None:
        for header in headers:
            if header.producer_id in wanted and not header.is_control:
                state.note(header, header.base_offset, since_offset=0)
        wanted.difference_update([header.producer_id for header in headers if not header.is_control])


def _pieces_backwards(segments: Sequence[Segment], from_offset: int) -> Iterator[list[BatchHeader]]:
    """Yield all batches from `from_offset` on, and some before it; the last ones first, in order within each piece."""
    for segment in reversed(segments):
        for headers in segment.batches_backwards(_PIECE_BYTES):
            yield headers
            if headers[0].base_offset <= from_offset:
                return
