"""Control batches: the record in a partition that says how a producer's transaction ended there.

Key: version int16 (0) · type int16. Value of an end marker: version int16 (0) · coordinator epoch int32. The
producer id and epoch stand in the header of the batch, which holds this one record. Clients skip it, but it takes up an
offset.
"""

import struct
from enum import IntEnum
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
_VERSION = 0


class MarkerType(IntEnum):
    """Types of control records that end a transaction; there are others, which do not."""

    ABORT = 0
    COMMIT = 1


class EndMarker(NamedTuple):
    """`coordinator_epoch` is the leader epoch of the transaction coordinator that had it written."""

    type: MarkerType
    coordinator_epoch: int


def build_marker(marker: EndMarker, producer_id: int, producer_epoch: int, now_ms: int) -> bytearray:
    """Return the control batch that ends the producer's transaction in one partition."""
    key, value = _KEY.pack(_VERSION, marker.type), _VALUE.pack(_VERSION, marker.coordinator_epoch)
    return build_batch(
        [Record(0, now_ms, key, value)],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )


def parse_marker(batch: bytes | bytearray | memoryview) -> EndMarker | None:
    """Return the marker at the beginning of the control batch; None if it ends no transaction or its record is gone.

    Later versions may append fields, which are ignored. Raises ApiError(CORRUPT_MESSAGE) for a damaged one.
    """
    records = decode_records(batch)
    if not records:
        return None
    try:
        _, marker_type = _KEY.unpack_from(records[0].key or b"")
        if marker_type not in (MarkerType.ABORT, MarkerType.COMMIT):
            return None
        _, coordinator_epoch = _VALUE.unpack_from(records[0].value or b"")
    except struct.error:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, "a control record is too short for what it says it is") from None
    return EndMarker(MarkerType(marker_type), coordinator_epoch)
