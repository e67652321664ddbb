"""What a topic's configuration asks of a batch besides being intact: keys, times, and whose clock sets them."""

from crc32c import crc32c

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.limits import PRODUCED_DECOMPRESSED_BYTES_MAX
from broker.log.compaction.record_spans import unpack_batch
from broker.log.config import UNLIMITED, LogConfig
from broker.records.batch import CHECKED_FROM, HEADER, LOG_APPEND_TIME_BIT, NO_TIMESTAMP, BatchHeader


def asks_anything(config: LogConfig) -> bool:
    """Whether a batch may fail under `config`, or has to be changed; most configurations need no look."""
    bounds = (config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms)
    return config.is_compacted or config.uses_append_time or bounds != (UNLIMITED, UNLIMITED)


def check_batch(
    batch: bytes | bytearray | memoryview, header: BatchHeader, config: LogConfig, now_ms: int | None
) -> int:
    """The largest timestamp the batch will have in the log. Raises ApiError: INVALID_TIMESTAMP, INVALID_RECORD.

    Without a time CreateTime has no bounds; LogAppendTime without one is an InvariantViolation.
    """
    if config.is_compacted and not header.is_control:
        _check_keys(batch, header)
    if config.uses_append_time:
        if now_ms is None:
            raise InvariantViolation("LogAppendTime needs the time")
        return now_ms
    if now_ms is not None:
        _check_create_time(header, config, now_ms)
    return header.max_timestamp


def _check_keys(batch: bytes | bytearray | memoryview, header: BatchHeader) -> None:
    """Only this needs the records themselves: a record without a key could never be replaced by a newer one, and of a
    batch that compaction cannot read none could.
    """
    _, spans = unpack_batch(header, batch, PRODUCED_DECOMPRESSED_BYTES_MAX)
    for span in spans:
        if span.key is None:
            raise ApiError(ErrorCode.INVALID_RECORD, "a record without a key in a compacted topic (cleanup.policy)")


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
