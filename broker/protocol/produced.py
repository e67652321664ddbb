"""The body of a ProduceResponse that says of every partition that the append succeeded, as nearly all of them do.

Written by hand because building the message and encoding it by its declaration is an eighth of what a small request
costs. The declaration (`messages/produce.py`) remains the truth: the tests compare byte for byte.
"""

from collections.abc import Iterable, Sequence
from struct import Struct as Layout
from typing import NamedTuple
from uuid import UUID

from broker.protocol.primitives import uvarint

#: Earlier ones have no log start offset.
FIRST_VERSION = 5
_FIRST_FLEXIBLE_VERSION = 9
_FIRST_VERSION_WITH_RECORD_ERRORS = 8

#: Index, error code 0, base offset, log append time, log start offset.
_write_partition = Layout(">ihqqq").pack
_write_count = Layout(">i").pack
_write_length = Layout(">h").pack
#: No record errors and no message; in the flexible encoding also no tagged fields.
_NO_ERRORS = _write_count(0) + _write_length(-1)
_NO_ERRORS_FLEXIBLE = b"\1\0\0"
_THROTTLE_TIME = _write_count(0)
_NO_TAGS = b"\0"


class Produced(NamedTuple):
    """Where the batch for one partition was written."""

    index: int  # type: ignore[assignment]  # a tuple's own `index` is of no use here
    base_offset: int
    log_append_time_ms: int
    log_start_offset: int


def encode_produced(version: int, topics: Sequence[tuple[str, Sequence[Produced]]]) -> bytes:
    """Encode a Produce body. `topics` are names with their partitions; `version` is FIRST_VERSION or later."""
    if version >= _FIRST_FLEXIBLE_VERSION:
        return _encode_flexible(topics)
    no_errors = _NO_ERRORS if version >= _FIRST_VERSION_WITH_RECORD_ERRORS else b""
    pieces = [_write_count(len(topics))]
    for name, partitions in topics:
        encoded = name.encode()
        pieces += (_write_length(len(encoded)), encoded, _write_count(len(partitions)))
        for index, base_offset, log_append_time_ms, log_start_offset in partitions:
            pieces += (_write_partition(index, 0, base_offset, log_append_time_ms, log_start_offset), no_errors)
    pieces.append(_THROTTLE_TIME)
    return b"".join(pieces)


def encode_produced_by_id(topics: Iterable[tuple[UUID, Sequence[Produced]]]) -> bytes:
    """Encode a Produce body of version 13 or later, which names topics by their ids."""
    pieces: list[bytes] = []
    count = 0
    for topic_id, partitions in topics:
        count += 1
        pieces += (topic_id.bytes, uvarint(len(partitions) + 1))
        for index, base_offset, log_append_time_ms, log_start_offset in partitions:
            pieces += (
                _write_partition(index, 0, base_offset, log_append_time_ms, log_start_offset),
                _NO_ERRORS_FLEXIBLE,
            )
        pieces.append(_NO_TAGS)
    return b"".join((uvarint(count + 1), *pieces, _THROTTLE_TIME, _NO_TAGS))


def with_throttle_time(version: int, body: bytes, throttle_time_ms: int) -> bytes:
    """Return the body with a throttle time, for a producer that is to wait so long before it sends more."""
    end = _NO_TAGS if version >= _FIRST_FLEXIBLE_VERSION else b""
    return body[: -len(_THROTTLE_TIME + end)] + _write_count(throttle_time_ms) + end


def _encode_flexible(topics: Sequence[tuple[str, Sequence[Produced]]]) -> bytes:
    pieces = [uvarint(len(topics) + 1)]
    for name, partitions in topics:
        encoded = name.encode()
        pieces += (uvarint(len(encoded) + 1), encoded, uvarint(len(partitions) + 1))
        for index, base_offset, log_append_time_ms, log_start_offset in partitions:
            pieces += (
                _write_partition(index, 0, base_offset, log_append_time_ms, log_start_offset),
                _NO_ERRORS_FLEXIBLE,
            )
        pieces.append(_NO_TAGS)
    pieces += (_THROTTLE_TIME, _NO_TAGS)
    return b"".join(pieces)
