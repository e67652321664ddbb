"""What a topic's configuration asks of a batch besides being intact: keys, times, and whose clock sets them."""

from collections.abc import Iterator
from enum import Enum

from crc32c import crc32c

from broker.common.errors import ApiError, BarnabasError, ErrorCode, InvariantViolation
from broker.common.limits import PRODUCED_DECOMPRESSED_BYTES_MAX, RECORDS_LOOKED_AT_AT_ONCE_MAX
from broker.log.compaction.record_spans import record_spans, unpack_records
from broker.log.config import UNLIMITED, LogConfig
from broker.records.batch import (
    CHECKED_FROM,
    COMPRESSION_BITS,
    HEADER,
    LOG_APPEND_TIME_BIT,
    NO_TIMESTAMP,
    BatchHeader,
    parse_batch_header,
)


def asks_anything(config: LogConfig) -> bool:
    """Whether a batch may fail under `config`, or has to be changed; most configurations need no look."""
    bounds = (config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms)
    return config.is_compacted or config.uses_append_time or bounds != (UNLIMITED, UNLIMITED)


class Look(Enum):
    """What becomes of the records of a batch for a compacted log, which all need keys."""

    WHOLE = "they are looked at, however long that takes"
    SHORT = "they are looked at if that takes a few milliseconds; else NeedsLook is raised"
    DONE = "somebody has looked at them"


class NeedsLook(BarnabasError):
    """The records of a batch have to be looked at, which may take long: `KeysLook` does it, a piece at a time."""


def check_batch(
    batch: bytes | bytearray | memoryview,
    header: BatchHeader,
    config: LogConfig,
    now_ms: int | None,
    look: Look = Look.WHOLE,
) -> int:
    """The largest timestamp the batch will have in the log. Raises ApiError: INVALID_TIMESTAMP, INVALID_RECORD.

    Without a time CreateTime has no bounds; LogAppendTime without one is an InvariantViolation.
    """
    if config.is_compacted and look is not Look.DONE and not header.is_control:
        if look is Look.SHORT and _takes_long(header):
            raise NeedsLook
        for _ in KeysLook(batch, header).steps():
            pass
    if config.uses_append_time:
        if now_ms is None:
            raise InvariantViolation("LogAppendTime needs the time")
        return now_ms
    if now_ms is not None:
        _check_create_time(header, config, now_ms)
    return header.max_timestamp


def _takes_long(header: BatchHeader) -> bool:
    """A few hundred compressed bytes can stand for megabytes."""
    return bool(header.attributes & COMPRESSION_BITS) or header.records_count > RECORDS_LOOKED_AT_AT_ONCE_MAX


class KeysLook:
    """Whether every record of a batch for a compacted log has a key, and compaction can read it.

    Only this needs the records themselves: a record without a key could never be replaced by a newer one, and of a
    batch that compaction cannot read none could.
    """

    def __init__(self, batch: bytes | bytearray | memoryview, header: BatchHeader | None = None):
        self._batch = batch
        self._header = header or parse_batch_header(batch)
        #: What the records take unpacked, once there has been a step.
        self.unpacked_bytes = 0

    def steps(self, unpacked_bytes_max: int = PRODUCED_DECOMPRESSED_BYTES_MAX) -> Iterator[None]:
        """One for each record; the first unpacks them all, in one piece.

        Raises ApiError: INVALID_RECORD, INVALID_TIMESTAMP, CORRUPT_MESSAGE.
        """
        payload = unpack_records(self._header, self._batch, unpacked_bytes_max)
        self.unpacked_bytes = len(payload)
        for span in record_spans(self._header, payload):
            if span.key is None:
                raise ApiError(ErrorCode.INVALID_RECORD, "a record without a key in a compacted topic (cleanup.policy)")
            yield


def _check_create_time(header: BatchHeader, config: LogConfig, now_ms: int) -> None:
    """By the header: the first timestamp stands for the smallest, exact while a producer's clock is steady."""
    if header.max_timestamp == NO_TIMESTAMP:
        return
    ahead = header.max_timestamp - now_ms
    if ahead > config.message_timestamp_after_max_ms:
        raise ApiError(
            ErrorCode.INVALID_TIMESTAMP,
            f"timestamp {header.max_timestamp} is {ahead} ms ahead of the broker's clock,"
            f" message.timestamp.after.max.ms is {config.message_timestamp_after_max_ms}",
        )
    behind = now_ms - header.base_timestamp
    if header.base_timestamp != NO_TIMESTAMP and behind > config.message_timestamp_before_max_ms:
        raise ApiError(
            ErrorCode.INVALID_TIMESTAMP,
            f"timestamp {header.base_timestamp} is {behind} ms behind the broker's clock,"
            f" message.timestamp.before.max.ms is {config.message_timestamp_before_max_ms}",
        )


def stamp_append_time(batch: bytearray | memoryview, header: BatchHeader, now_ms: int) -> None:
    """Make `now_ms` the time of all records: one field and one bit say so; the records themselves stay as they are."""
    stamped = header._replace(attributes=header.attributes | LOG_APPEND_TIME_BIT, max_timestamp=now_ms)
    HEADER.pack_into(batch, 0, *stamped)
    HEADER.pack_into(batch, 0, *stamped._replace(crc=crc32c(memoryview(batch)[CHECKED_FROM:])))
