"""Reading records with a bound on what they unpack to, from a broker that answers what a test lays out."""

import asyncio
import tracemalloc

import pytest

from broker.client.cluster import ClusterConnections
from broker.client.record_reader import PartitionRefused, RecordReader
from broker.common.limits import HEADERS_PER_BATCH_MAX
from broker.common.types import IsolationLevel, TopicPartition
from broker.protocol.messages.metadata import MetadataRequest
from broker.records.batch import HEADER_BYTES, Compression
from tests.produced_batches import batch_of_headers, batch_of_payload
from tests.served_logs import ServedLogs, values

MB = 1024 * 1024
BOUND = 4 * MB


def reader_of(cluster: ClusterConnections, starts: dict[TopicPartition, int]) -> RecordReader:
    return RecordReader(
        cluster, starts, IsolationLevel.READ_UNCOMMITTED, fetch_bytes=MB, fetch_wait_ms=100, unpacked_bytes_max=BOUND
    )


async def calls_of(logs: ServedLogs, ends: dict[int, int], records_max: int = 1_000) -> list[tuple]:
    """(records, batches left out) of each call until every partition is read to its end; at most 200 calls."""

    def read() -> list[tuple]:
        calls = []
        with ClusterConnections([("127.0.0.1", logs.broker.port)]) as cluster:
            reader = reader_of(cluster, {TopicPartition("t", number): 0 for number in ends})
            while any(reader.positions["t", number] < end for number, end in ends.items()):
                runs = reader.read(10, records_max)
                records = [(at.partition, record.offset) for at, _, records in runs for record in records]
                calls.append((records, [(item.first, item.last) for item in reader.take_left_out()]))
                assert len(calls) <= 200
            reader.close()
        return calls

    async with logs.broker:
        return await asyncio.to_thread(read)


def read_once(calls: list[tuple]) -> list[tuple[int, int]]:
    return [place for records, _ in calls for place in records]


async def test_a_call_ends_with_the_batch_that_reaches_the_bound_and_the_next_one_goes_on():
    """A few hundred KB of batches just below the bound were unpacked by one call: 3 GB for a sink."""
    calls = await calls_of(ServedLogs([values(3 * MB) for _ in range(9)]), {0: 9})
    assert read_once(calls) == [(0, offset) for offset in range(9)]
    assert [len(records) for records, _ in calls] == [2, 2, 2, 2, 1]


async def test_the_rest_of_a_batch_counts_in_the_call_that_takes_it():
    calls = await calls_of(ServedLogs([values(2 * MB, 1 * MB) for _ in range(4)]), {0: 8}, records_max=3)
    assert read_once(calls) == [(0, offset) for offset in range(8)]
    assert [len(records) for records, _ in calls] == [3, 3, 2]


async def test_what_a_call_holds_is_bounded_however_many_batches_have_come():
    logs = ServedLogs([values(BOUND - 1_000)] * 30)
    tracemalloc.start()
    try:
        calls = await calls_of(logs, {0: 30})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read_once(calls) == [(0, offset) for offset in range(30)]
    # Of a call and the one before, which the list of this test has let go of by then: a batch unpacked and copied each.
    assert peak < 8 * BOUND


async def test_headers_are_a_bound_of_a_call_too():
    logs = ServedLogs([batch_of_headers(60_000) for _ in range(5)])
    calls = await calls_of(logs, {0: 5})
    assert [len(records) for records, _ in calls] == [2, 2, 1]


@pytest.mark.parametrize(
    "bomb",
    [values(BOUND + 1), batch_of_headers(HEADERS_PER_BATCH_MAX + 1), batch_of_payload(b"\x7f", 1, Compression.ZSTD)],
)
async def test_a_batch_that_cannot_be_read_is_left_out_once_and_ends_its_call(bomb):
    """What is behind it comes with the next call: a caller can end before the batch."""
    logs = ServedLogs([values(1), bomb, values(1), bomb, bomb, values(1)], [values(1) for _ in range(6)])
    calls = await calls_of(logs, {0: 6, 1: 6})
    assert sorted(read_once(calls)) == [(0, 0), (0, 2), (0, 5), *((1, offset) for offset in range(6))]
    left_out = [
        (sum(number == 0 for number, _ in read_once(calls[: at + 1])), batch)
        for at, (_, batch) in enumerate(calls)
        if batch
    ]
    assert left_out == [(1, [(1, 1)]), (2, [(3, 3)]), (2, [(4, 4)])]


async def test_a_batch_whose_records_lie_before_the_position_is_passed_over_though_it_fills_the_bound():
    """Compaction leaves batches whose last offsets hold no record."""
    emptied = batch_of_payload(
        b"".join(bytes([12, 0, 0, 2 * n, 1, 1, 0]) for n in range(2)), 2, Compression.NONE, last_offset_delta=9
    )
    calls = await calls_of(ServedLogs([emptied, values(BOUND - 100, 50), values(1)]), {0: 13}, records_max=3)
    assert read_once(calls) == [(0, 0), (0, 1), (0, 10), (0, 11), (0, 12)]


async def test_a_batch_that_is_damaged_is_told_with_the_rest_of_what_came():
    damaged = values(10, compression=Compression.NONE)
    damaged[HEADER_BYTES + 8] ^= 1
    calls = await calls_of(ServedLogs([values(1), damaged, values(1)]), {0: 3})
    assert read_once(calls) == [(0, 0)]
    assert [batches for _, batches in calls if batches] == [[(1, 2)]]


async def test_a_partition_without_a_leader_keeps_no_other_waiting_and_is_read_once_it_has_one():
    logs = ServedLogs([values(1)], [values(1), values(1)], without_leader=0)
    places = {TopicPartition("t", number): 0 for number in (0, 1)}

    def read() -> list[TopicPartition]:
        partitions = []
        with ClusterConnections([("127.0.0.1", logs.broker.port)]) as cluster:
            reader = reader_of(cluster, places)
            while len(partitions) < 2:
                partitions += [run.partition for run in reader.read(10, 1_000)]
            logs.without_leader = None
            while len(partitions) < 3:
                partitions += [run.partition for run in reader.read(10, 1_000)]
        return partitions

    async with logs.broker:
        assert await asyncio.wait_for(asyncio.to_thread(read), 30) == [("t", 1), ("t", 1), ("t", 0)]


async def test_a_partition_that_is_refused_is_named_and_the_others_are_read_without_it():
    logs = ServedLogs([values(1)], [values(1)], refused=0)

    def read() -> list[TopicPartition]:
        with ClusterConnections([("127.0.0.1", logs.broker.port)]) as cluster:
            reader = reader_of(cluster, {TopicPartition("t", number): 0 for number in (0, 1)})
            with pytest.raises(PartitionRefused) as caught:
                reader.read(10, 1_000)
            reader.drop(caught.value.partition)
            reader.seek(TopicPartition("t", 1), 0)
            return [caught.value.partition] + [run.partition for run in reader.read(10, 1_000)]

    async with logs.broker:
        assert await asyncio.wait_for(asyncio.to_thread(read), 30) == [("t", 0), ("t", 1)]


async def test_what_is_asked_meanwhile_leaves_the_response_that_is_awaited_where_it_is():
    """Leaders are looked for while a fetch waits at the broker: its response was taken for theirs."""
    logs = ServedLogs([values(1)])

    def ask() -> list[str]:
        with ClusterConnections([("127.0.0.1", logs.broker.port)]) as cluster:
            connection = cluster.connection("127.0.0.1", logs.broker.port)
            sent = connection.send(MetadataRequest(), version_max=9)
            (topic,) = cluster.describe_topics(["t"]).topics
            (awaited,) = connection.answer(sent).topics
            assert cluster.connection("127.0.0.1", logs.broker.port) is connection, "one at rest is used again"
            return [topic.name, awaited.name]

    async with logs.broker:
        assert await asyncio.wait_for(asyncio.to_thread(ask), 30) == ["t", "t"]


async def test_requests_that_a_broker_has_to_read_in_order_share_a_connection():
    """A producer sends several batches before the first is acknowledged: over two connections one overtakes another."""
    logs = ServedLogs([values(1)])

    def send_twice() -> bool:
        with ClusterConnections([("127.0.0.1", logs.broker.port)]) as cluster:
            first = cluster.connection("127.0.0.1", logs.broker.port, in_order=True)
            sent = first.send(MetadataRequest(), version_max=9)
            second = cluster.connection("127.0.0.1", logs.broker.port, in_order=True)
            first.answer(sent)
            return second is first

    async with logs.broker:
        assert await asyncio.wait_for(asyncio.to_thread(send_twice), 30)


async def test_a_connection_that_is_closed_while_a_fetch_is_awaited_is_made_again():
    logs = ServedLogs([values(1)])

    def read() -> list[tuple]:
        with ClusterConnections([("127.0.0.1", logs.broker.port)]) as cluster:
            reader = reader_of(cluster, {TopicPartition("t", 0): 0})
            reader._ask_all()
            cluster.forget("127.0.0.1", logs.broker.port)
            runs = []
            while not runs:
                runs = reader.read(10, 1_000)
            return [run.partition for run in runs]

    async with logs.broker:
        assert await asyncio.wait_for(asyncio.to_thread(read), 30) == [("t", 0)]
