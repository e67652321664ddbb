"""Reads what partitions hold at the moment, each from its beginning to its end, over our own client: in bounds."""

import time
from collections.abc import Callable, Collection, Iterator

from broker.client.cluster import ClusterConnections
from broker.client.leaders import Leaders
from broker.client.offsets import EARLIEST, LATEST, list_offsets
from broker.client.record_reader import LeftOutBatch, RecordReader, RecordRun
from broker.common.types import IsolationLevel, TopicPartition

_FETCH_BYTES, _FETCH_WAIT_MS = 4 << 20, 100
#: One batch at a time is unpacked, and one run has as much at most.
UNPACKED_BYTES_MAX = 64 << 20
_AT_ONCE = 1_000
_WAIT_S = 0.2


def read_to_end(
    cluster: ClusterConnections,
    partitions: Collection[TopicPartition],
    leave_out: Callable[[LeftOutBatch], None],
    timeout_s: float = 30.0,
) -> Iterator[RecordRun]:
    """Yield the records that are committed by now, and perhaps a few that came meanwhile. `leave_out` is called with a
    batch that cannot be unpacked, behind what comes before it; what it raises ends the reading.

    Raises ApiError, BrokerUnreachable, and TimeoutError when nothing new comes for `timeout_s`.
    """
    leaders = Leaders(cluster)
    starts = list_offsets(leaders, dict.fromkeys(partitions, EARLIEST), timeout_s=timeout_s)
    ends = list_offsets(leaders, dict.fromkeys(partitions, LATEST), IsolationLevel.READ_COMMITTED, timeout_s)
    reader = RecordReader(
        cluster, {item: start for item, start in starts.items() if start < ends[item]}, IsolationLevel.READ_COMMITTED,
        fetch_bytes=_FETCH_BYTES, fetch_wait_ms=_FETCH_WAIT_MS, unpacked_bytes_max=UNPACKED_BYTES_MAX,
    )  # fmt: skip
    try:
        positions, moved_at = dict(reader.positions), time.monotonic()
        while reader.is_reading:
            yield from reader.read(_WAIT_S, _AT_ONCE)
            for batch in reader.take_left_out():
                leave_out(batch)
            for partition in [item for item, at in reader.positions.items() if at >= ends[item]]:
                reader.drop(partition)
            if positions != reader.positions:
                positions, moved_at = dict(reader.positions), time.monotonic()
            elif time.monotonic() > moved_at + timeout_s:
                behind = next(position for position in positions if reader.wants(position))
                raise TimeoutError(f"{behind} brought nothing behind offset {positions[behind]} for {timeout_s:g} s")
    finally:
        reader.close()
