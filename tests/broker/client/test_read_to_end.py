"""What partitions hold at the moment, read from a broker that answers what a test lays out."""

import asyncio

import pytest

from broker.client import read_to_end as module
from broker.client.cluster import ClusterConnections
from broker.client.read_to_end import UNPACKED_BYTES_MAX, read_to_end
from broker.common.types import TopicPartition
from tests.served_logs import ServedLogs, values


async def read(logs: ServedLogs, partitions: int, timeout_s: float = 30) -> tuple[list, list]:
    """The places of the records, and the spans of the batches that were left out."""
    places, left_out = [], []

    def read_all() -> None:
        with ClusterConnections([("127.0.0.1", logs.broker.port)]) as cluster:
            wanted = [TopicPartition("t", number) for number in range(partitions)]
            for run in read_to_end(cluster, wanted, lambda batch: left_out.append(batch[1:3]), timeout_s):
                places.extend((run.partition.partition, record.offset) for record in run.records)

    async with logs.broker:
        await asyncio.to_thread(read_all)
    return places, left_out


async def test_every_partition_is_read_to_its_end_and_an_empty_one_is_not_waited_for():
    logs = ServedLogs([values(1), values(1, 1)], [values(5)], [])
    places, left_out = await read(logs, 3)
    assert sorted(places) == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert left_out == []


async def test_a_batch_beyond_the_bound_is_told_and_what_is_behind_it_is_read():
    logs = ServedLogs([values(1), values(UNPACKED_BYTES_MAX + 1), values(1)])
    assert await read(logs, 1) == ([(0, 0), (0, 2)], [(1, 1)])


async def test_what_does_not_come_ends_the_reading(monkeypatch):
    logs = ServedLogs([values(1)], [values(1)])
    monkeypatch.setattr(module, "_WAIT_S", 0.01)
    monkeypatch.setattr(logs, "_end", lambda number: 2)
    with pytest.raises(TimeoutError, match="brought nothing behind offset 1"):
        await read(logs, 2, 0.1)
