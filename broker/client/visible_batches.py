"""Which batches of a fetched buffer a reader is to see, in order, each checked by its CRC.

Control batches are never seen: they take up offsets and hold no records for anybody. A reader of committed records does
not see the batches of transactions that were aborted either: the broker names those transactions with what it sends,
and the abort marker in the partition ends each.
"""

from collections.abc import Iterable, Iterator

from broker.common.errors import ApiError, ErrorCode
from broker.protocol.messages.fetch import AbortedTransaction
from broker.records.batch import CURRENT_MAGIC, BatchHeader, crc_matches, iterate_headers
from broker.records.control import MarkerType, parse_marker

Batch = tuple[BatchHeader, memoryview]


def visible_batches(data: memoryview, aborted: Iterable[AbortedTransaction] | None) -> Iterator[Batch]:
    """Yield the batches with records for the reader; one cut off at the end of `data` is left out.

    `aborted` is None for a reader of everything. Raises ApiError: CORRUPT_MESSAGE for a damaged batch,
    UNSUPPORTED_FOR_MESSAGE_FORMAT for one written before Kafka 0.11.
    """
    outstanding = sorted(aborted or (), key=lambda transaction: transaction.first_offset, reverse=True)
    aborting: set[int] = set()
    for at, header in iterate_headers(data):
        batch = data[at : at + header.size_bytes]
        _check(batch, header)
        while outstanding and outstanding[-1].first_offset <= header.last_offset:
            aborting.add(outstanding.pop().producer_id)
        if header.is_control:
            if header.producer_id in aborting and _is_abort(batch):
                aborting.discard(header.producer_id)
        elif header.records_count and not (header.is_transactional and header.producer_id in aborting):
            yield header, batch


def end_of(data: memoryview) -> int | None:
    """Return the offset behind the last whole batch in `data`, whatever is in it; None if there is no whole batch."""
    end = None
    for _, header in iterate_headers(data):
        end = header.next_offset
    return end


def _is_abort(batch: memoryview) -> bool:
    marker = parse_marker(batch)
    return marker is not None and marker.type is MarkerType.ABORT


def _check(batch: memoryview, header: BatchHeader) -> None:
    if header.magic != CURRENT_MAGIC:
        raise ApiError(
            ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
            f"the records at offset {header.base_offset} are in message format {header.magic} of before Kafka 0.11",
        )
    if not crc_matches(batch, header):
        raise ApiError(
            ErrorCode.CORRUPT_MESSAGE, f"the CRC-32C of the batch at offset {header.base_offset} does not match"
        )
