"""Reads a coordinator's partition from its beginning, in slices between which the loop serves others."""

import asyncio
from collections.abc import Callable

from broker.common.backoff import Backoff
from broker.common.errors import InvariantViolation
from broker.common.logs import logger
from broker.net.turns import Turns
from broker.records.batch import BatchHeader, iterate_headers
from broker.records.control import parse_marker
from broker.records.record import Record, decode_records
from broker.runtime.coordinators.shard import C, Proposed, Shard

_log = logger(__name__)

_READ_BYTES = 1024 * 1024
#: Records replayed before others, other partitions that are loaded among them, get their turn: 2 to 8 ms.
_RECORDS_PER_SLICE = 200
#: Pauses before what failed is read again; the longest is what a partition waits at most once its disk is well.
_AGAIN_FIRST_S = 0.2
_AGAIN_MAX_S = 30.0


async def load(
    shard: Shard[C, Proposed],
    new_coordinator: Callable[[], C],
    finish: Callable[[Shard[C, Proposed]], None],
    not_loaded: set[int],
    turns: Turns,
) -> None:
    """Load the coordinator, retrying until it works; `not_loaded` names it meanwhile.

    A broker may begin to lead fifty partitions at once: they share `turns`, so that their slices never add up.
    Raises InvariantViolation for a log that will not be readable tomorrow either.
    """
    backoff = Backoff(_AGAIN_FIRST_S, _AGAIN_MAX_S)
    while True:
        try:
            await replay_all(shard, turns)
            finish(shard)
            return
        except InvariantViolation:
            raise
        except Exception:
            not_loaded.add(shard.partition)
            pause_s = backoff.fail()
            partition = str(shard.hosted.partition.topic_partition)
            _log.exception("coordinator is not loaded yet", partition=partition, again_in_s=pause_s)
        await asyncio.sleep(pause_s)
        shard.start_over(new_coordinator())


async def replay_all(shard: Shard[C, Proposed], turns: Turns) -> None:
    """Replay the log to its current end, markers appended meanwhile included.

    Raises InvariantViolation or ApiError if it is unreadable.
    """
    log = shard.hosted.log
    at = log.log_start_offset
    replayed = 0
    await turns.mine()
    while at < (end := log.log_end_offset):
        data = memoryview(log.read(at, _READ_BYTES, end, at_least_one=True).read())
        began_at = at
        for position, header in iterate_headers(data):
            if replayed >= _RECORDS_PER_SLICE:
                replayed = 0
                await turns.mine()
            at = header.next_offset
            _replay_batch(shard, header, data[position : position + header.size_bytes])
            replayed += header.records_count
        if at == began_at:
            raise InvariantViolation(f"nothing is to be read at offset {at}, but the log ends at {end}")


def _replay_batch(shard: Shard[C, Proposed], header: BatchHeader, batch: memoryview) -> None:
    if header.is_control:
        marker = parse_marker(batch)
        if marker is not None:
            shard.complete_transaction(header.producer_id, marker)
        return
    producer_id = header.producer_id if header.is_transactional else None
    for record in decode_records(batch):
        _replay(shard, record, producer_id)


def _replay(shard: Shard[C, Proposed], record: Record, producer_id: int | None) -> None:
    try:
        shard.replay(record.key or b"", record.value, record.headers, producer_id)
    except InvariantViolation as error:
        partition = str(shard.hosted.partition.topic_partition)
        _log.error("record skipped", partition=partition, offset=record.offset, reason=str(error))
