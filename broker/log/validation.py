"""What a topic's configuration asks of a batch besides being intact: keys, times, and whose clock sets them."""

from collections.abc import Iterator
from enum import Enum

from crc32c import crc32c

from broker.common.errors import ApiError, BarnabasError, ErrorCode, InvariantViolation, RecordsRefused
from broker.common.limits import (
    NAMED_RECORDS_BYTES_MAX,
    PRODUCED_DECOMPRESSED_BYTES_MAX,
    RECORD_ERRORS_MAX,
    RECORDS_LOOKED_AT_AT_ONCE_MAX,
)
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
    """Return whether a batch may fail under `config`, or has to be changed; most configurations need no look."""
    bounds = (config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms)
    return config.is_compacted or config.uses_append_time or bounds != (UNLIMITED, UNLIMITED)


class BatchValidation(Enum):
    """What becomes of the records of a batch for a compacted log, which all need keys."""

    WHOLE = "they are looked at, however long that takes"
    SHORT = "they are looked at if that takes a few milliseconds; else NeedsLook is raised"
    DONE = "somebody has looked at them"


class NeedsFullValidation(BarnabasError):
    """The records of a batch have to be looked at, which may take long: `KeysLook` does it, a piece at a time."""


def check_batch(
    batch: bytes | bytearray | memoryview,
    header: BatchHeader,
    config: LogConfig,
    now_ms: int | None,
    look: BatchValidation = BatchValidation.WHOLE,
) -> int:
    """Return the largest timestamp the batch will have in the log. Raises ApiError: INVALID_TIMESTAMP, INVALID_RECORD,
    with the records at fault (RecordsRefused) where they can be named.

    Without a time CreateTime has no bounds; LogAppendTime without one is an InvariantViolation.
    """
    if config.is_compacted and look is not BatchValidation.DONE and not header.is_control:
        if look is BatchValidation.SHORT and _takes_long(header):
            raise NeedsFullValidation
        for _ in KeysLook(batch, header).steps():
            pass
    if config.uses_append_time:
        if now_ms is None:
            raise InvariantViolation("LogAppendTime needs the current time")
        return now_ms
    # Nearly every batch lies within both bounds; small requests pay for each call.
    if now_ms is not None and (
        header.max_timestamp - now_ms > config.message_timestamp_after_max_ms
        or now_ms - header.base_timestamp > config.message_timestamp_before_max_ms
    ):
        _check_create_time(batch, header, config, now_ms)
    return header.max_timestamp


def _takes_long(header: BatchHeader) -> bool:
    """Return whether checking takes long: a few hundred compressed bytes can stand for megabytes."""
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
        """Check record by record; the first step unpacks them all, in one piece.

        Raises ApiError: INVALID_TIMESTAMP, CORRUPT_MESSAGE, and at the end RecordsRefused for those without a key.
        """
        payload = unpack_records(self._header, self._batch, unpacked_bytes_max)
        self.unpacked_bytes = len(payload)
        keyless: list[int] = []
        for at, span in enumerate(record_spans(self._header, payload)):
            if span.key is None and len(keyless) < RECORD_ERRORS_MAX:
                keyless.append(at)
            yield
        if keyless:
            reason = "a record without a key in a compacted topic (cleanup.policy)"
            raise RecordsRefused(ErrorCode.INVALID_RECORD, reason, dict.fromkeys(keyless, reason))


def _check_create_time(
    batch: bytes | bytearray | memoryview, header: BatchHeader, config: LogConfig, now_ms: int
) -> None:
    """Check create times by the header: the first timestamp stands for the smallest, exact while a producer's clock is
    steady.
    """
    if header.max_timestamp == NO_TIMESTAMP:
        return
    bound = _bound_passed(header.max_timestamp, config, now_ms)
    if bound is None and header.base_timestamp != NO_TIMESTAMP:
        bound = _bound_passed(header.base_timestamp, config, now_ms)
    if bound is not None:
        reason = f"One or more records have been rejected due to invalid timestamp: {bound}"
        raise RecordsRefused(ErrorCode.INVALID_TIMESTAMP, reason, _records_out_of_bounds(batch, header, config, now_ms))


def _bound_passed(timestamp: int, config: LogConfig, now_ms: int) -> str | None:
    """Return the key and value of the bound that the time is beyond, None if it is within both."""
    ahead = timestamp - now_ms
    if ahead > config.message_timestamp_after_max_ms:
        return f"message.timestamp.after.max.ms is {config.message_timestamp_after_max_ms}"
    if -ahead > config.message_timestamp_before_max_ms:
        return f"message.timestamp.before.max.ms is {config.message_timestamp_before_max_ms}"
    return None


def _records_out_of_bounds(
    batch: bytes | bytearray | memoryview, header: BatchHeader, config: LogConfig, now_ms: int
) -> dict[int, str]:
    """Return the records whose time is out of bounds. None are named of a batch that takes long to check, or cannot be
    read: it is refused as a whole.
    """
    if header.records_count > RECORDS_LOOKED_AT_AT_ONCE_MAX:
        return {}
    try:
        spans = list(record_spans(header, unpack_records(header, batch, NAMED_RECORDS_BYTES_MAX)))
    except ApiError:
        return {}
    earliest = now_ms - config.message_timestamp_before_max_ms
    within = f"[{earliest}, {now_ms + config.message_timestamp_after_max_ms}]"
    reasons = {}
    for at, span in enumerate(spans):
        time = header.base_timestamp + span.timestamp_delta
        if time != NO_TIMESTAMP and (bound := _bound_passed(time, config, now_ms)):
            place = f"Timestamp {time} of message with offset {header.base_offset + at} is out of range"
            reasons[at] = f"{place}. The timestamp should be within {within}; {bound}"
    return reasons


def stamp_append_time(batch: bytearray | memoryview, header: BatchHeader, now_ms: int) -> None:
    """Make `now_ms` the time of all records: one field and one bit say so; the records themselves stay as they are."""
    stamped = header._replace(attributes=header.attributes | LOG_APPEND_TIME_BIT, max_timestamp=now_ms)
    HEADER.pack_into(batch, 0, *stamped)
    HEADER.pack_into(batch, 0, *stamped._replace(crc=crc32c(memoryview(batch)[CHECKED_FROM:])))


def too_large(size: int, config: LogConfig) -> ApiError:
    reason = f"the batch has {size} bytes, max.message.bytes is {config.max_message_bytes}"
    return ApiError(ErrorCode.MESSAGE_TOO_LARGE, reason)
