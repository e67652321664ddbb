"""Reads a coordinator's partition from its beginning, in slices between which the loop serves others."""

import asyncio

from broker.common.errors import InvariantViolation
from broker.common.logs import logger
from broker.records.batch import iterate_headers
from broker.records.record import Record, decode_records
from broker.runtime.coordinators.shard import Shard

_log = logger(__name__)

_SLICE_BYTES = 1024 * 1024


async def replay_all(shard: Shard) -> None:
    """Up to where the log ends now: nothing is appended to the partition while it is loaded.

    Raises InvariantViolation or ApiError when it cannot be read to its end.
    """
    log = shard.hosted.log
    at, end = log.log_start_offset, log.log_end_offset
    while at < end:
        data = memoryview(log.read(at, _SLICE_BYTES, end, at_least_one=True).read())
        began_at = at
        for position, header in iterate_headers(data):
            at = header.next_offset
            if not header.is_control:
                for record in decode_records(data[position : position + header.size_bytes]):
                    _replay(shard, record)
        if at == began_at:
            raise InvariantViolation(f"nothing is to be read at offset {at}, but the log ends at {end}")
        await asyncio.sleep(0)


def _replay(shard: Shard, record: Record) -> None:
    try:
        shard.coordinator.replay(record.key or b"", record.value)
    except InvariantViolation as error:
        partition = str(shard.hosted.partition.topic_partition)
        _log.error("record passed over", partition=partition, offset=record.offset, reason=str(error))
