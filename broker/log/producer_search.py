"""Finds out what is left of producers after the end of a log was cut off.

Nearly always enough is remembered. If not, the log is read from its end backwards: a producer that was at work in what
went was most likely at work right before it. Reading it from its last snapshot on, as at a start, would take seconds.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from broker.common.errors import ApiError
from broker.log.producer_snapshots import load_producers, newest_snapshot
from broker.log.producer_state import ProducerState
from broker.log.segment import Segment
from broker.records.batch import BatchHeader

_PIECE_BYTES = 256 * 1024


def producers_after_cut(
    state: ProducerState, directory: Path, segments: Sequence[Segment], end_offset: int
) -> ProducerState:
    """`state` as of `end_offset`, where the log ends now, and beyond which there is no snapshot. Raises OSError.

    Of a producer that has to be looked for, perhaps fewer batches are remembered than it wrote, but always the last.
    """
    wanted = state.forget_from(end_offset)
    if not wanted:
        return state
    snapshot, from_offset = newest_snapshot(directory)
    try:
        for headers in _pieces_backwards(segments, from_offset):
            for header in headers:
                if header.producer_id in wanted:
                    state.note(header, header.base_offset, since_offset=0)
            wanted.difference_update([header.producer_id for header in headers])
            if not wanted:
                return state
    except ApiError:
        return load_producers(directory, segments, end_offset)
    for producer_id in wanted:
        state.recall(producer_id, snapshot)
    return state


def _pieces_backwards(segments: Sequence[Segment], from_offset: int) -> Iterator[list[BatchHeader]]:
    """Batches from `from_offset` on, the last ones first; in the order of the log within each piece."""
    for segment in reversed(segments):
        for headers in segment.batches_backwards(_PIECE_BYTES):
            yield [header for header in headers if header.base_offset >= from_offset]
            if headers and headers[0].base_offset < from_offset:
                return
