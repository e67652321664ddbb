"""Transactions as producers, coordinators and consumers see them, over a real socket; the test is the coordinator."""

import asyncio

import pytest

from broker.common.clock import SystemClock
from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from broker.records.batch import iterate_headers, patch_batch
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record
from broker.runtime.replication import transactional_appends
from tests.broker.server.conftest import TOPIC_ID
from tests.eventually import eventually

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def data(producer_id: int, sequence: int, epoch: int = 0, *, is_transactional: bool = True, at_ms: int | None = None):
    """Of now, as markers are: or a segment would end between them."""
    return build_batch(
        [Record(0, SystemClock().now_ms() if at_ms is None else at_ms, b"k", b"v")],
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )


def produce(
    *batches, transactional_id: str | None = "copier", acks: int = -1, timeout_ms: int = 10_000, partitions=(P0, P1)
):
    """A batch for each of `partitions` of t, or for the first of them."""
    named = [
        PartitionProduceData(index=index, records=batch) for (_, index), batch in zip(partitions, batches, strict=False)
    ]
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[TopicProduceData(name="t", partition_data=named)],
    )


def markers(
    producer_id: int,
    *partitions: int,
    is_commit: bool = True,
    epoch: int = 0,
    coordinator_epoch: int = 0,
    topic="t",
    transaction_version: int = 0,
):
    topics = [WritableTxnMarkerTopic(name=topic, partition_indexes=list(partitions) or [0])]
    return WritableTxnMarker(
        producer_id=producer_id,
        producer_epoch=epoch,
        transaction_result=is_commit,
        topics=topics,
        coordinator_epoch=coordinator_epoch,
        transaction_version=transaction_version,
    )


def fetch(offset: int = 0, *, is_committed: bool = True, session=(0, -1), max_wait_ms: int = 0, **more) -> FetchRequest:
    partitions = [FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1_000_000)]
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        isolation_level=int(is_committed),
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic(topic="t", topic_id=TOPIC_ID, partitions=partitions)],
        **more,
    )


def produced(response) -> list[ErrorCode]:
    return [
        ErrorCode(partition_response.error_code)
        for topic in response.responses
        for partition_response in topic.partition_responses
    ]


def written(response) -> list[list[ErrorCode]]:
    return [
        [ErrorCode(partition.error_code) for topic in marker.topics for partition in topic.partitions]
        for marker in response.markers
    ]


def offsets(response) -> list[int]:
    (read,) = response.responses[0].partitions
    return [header.base_offset for _, header in iterate_headers(bytes(read.records))]


def offsets_and_aborted(response) -> tuple[int, int, list[tuple[int, int]]]:
    """(high watermark, last stable offset, aborted transactions)"""
    (read,) = response.responses[0].partitions
    aborted = [(transaction.producer_id, transaction.first_offset) for transaction in read.aborted_transactions or []]
    return read.high_watermark, read.last_stable_offset, aborted


async def write(client, *markers: WritableTxnMarker, version: int = 1) -> list[list[ErrorCode]]:
    return written(await client.ask(WriteTxnMarkersRequest(markers=list(markers)), version))


@pytest.fixture
async def client(served):
    served.lead("t", 2)
    served.tell_of("t", 2)
    return await served.member()


@pytest.fixture
async def aborted_and_open(client):
    """Offsets: 7 wrote 0 and was aborted at 2; 8 wrote 1 and was committed at 3; 9 wrote 4 and is open."""
    for batch in (data(7, 0), data(8, 0)):
        await client.ask(produce(batch), 11)
    await write(client, markers(7, is_commit=False), markers(8))
    await client.ask(produce(data(9, 0)), 11)
    return client


async def test_trap_36_reader_of_committed_records_stops_where_the_oldest_open_transaction_began(aborted_and_open):
    client = aborted_and_open
    response = await client.ask(fetch(), 11)
    assert offsets(response) == [0, 1, 2, 3]
    assert offsets_and_aborted(response) == (5, 4, [(7, 0)])
    assert offsets(await client.ask(fetch(4), 11)) == []
    assert offsets_and_aborted(await client.ask(fetch(3), 11)) == (5, 4, [])
    assert offsets(await client.ask(fetch(is_committed=False), 11)) == [0, 1, 2, 3, 4]


async def test_reader_of_everything_is_told_the_last_stable_offset_and_no_aborted_transactions(aborted_and_open):
    (read,) = (await aborted_and_open.ask(fetch(is_committed=False), 11)).responses[0].partitions
    assert (read.last_stable_offset, read.aborted_transactions) == (4, None)


@pytest.mark.parametrize(
    ("timestamp", "isolation_level", "expected"), [(-1, 1, 4), (-1, 0, 5), (5_000, 1, -1), (5_000, 0, 4), (-3, 0, 4)]
)
async def test_offsets_of_committed_records_end_at_the_last_stable_one(client, timestamp, isolation_level, expected):
    for sequence in range(4):
        await client.ask(produce(data(7, sequence, is_transactional=False, at_ms=1_000), transactional_id=None), 11)
    await client.ask(produce(data(9, 0, at_ms=5_000)), 11)
    partition = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    topic = ListOffsetsTopic(name="t", partitions=[partition])
    response = await client.ask(ListOffsetsRequest(isolation_level=isolation_level, topics=[topic]), 7)
    assert response.topics[0].partitions[0].offset == expected


@pytest.mark.parametrize("session", [(0, -1), (0, 0)])
async def test_waiting_reader_of_committed_records_is_woken_by_the_marker(served, client, session):
    await client.ask(produce(data(7, 0)), 11)
    reader = await served.member()
    await reader.send_request(fetch(max_wait_ms=60_000, session=session), 12)
    await eventually(lambda: len(served.delayed_fetches) == 1, "the fetch waits")
    await client.ask(produce(data(8, 0)), 11)
    await write(client, markers(7))
    assert offsets(await reader.answer(FetchRequest.api, 12)) == [0]


async def test_fetch_session_hears_of_a_last_stable_offset_that_moved(client):
    await client.ask(produce(data(7, 0, is_transactional=False), transactional_id=None), 11)
    opened = await client.ask(fetch(1, session=(0, 0)), 12)
    assert offsets_and_aborted(opened) == (1, 1, [])
    again = fetch(1, session=(opened.session_id, 1))
    again.topics = []
    assert (await client.ask(again, 12)).responses == []
    await client.ask(produce(data(7, 1)), 11)
    again.session_epoch = 2
    assert offsets_and_aborted(await client.ask(again, 12)) == (2, 1, [])
    await write(client, markers(7, is_commit=False))
    again.session_epoch = 3
    assert offsets_and_aborted(await client.ask(again, 12)) == (3, 3, [(7, 1)])


async def test_marker_counts_only_when_it_is_committed(served, client):
    """A follower that is in sync holds everything before the marker."""
    served.lead_with_follower("t", follower=2)
    hosted = served.replicas.get("t", 0)
    writer = await served.member()
    await writer.send_request(produce(data(7, 0)), 11)
    await eventually(lambda: hosted.log.log_end_offset == 1, "the batch is in the log")
    served.replicas.follower_holds(hosted, 2, 1, broker_epoch=20)
    await writer.answer(ProduceRequest.api, 11)
    await writer.send_request(WriteTxnMarkersRequest(markers=[markers(7)]), 1)
    await eventually(lambda: hosted.log.log_end_offset == 2, "the marker is in the log")
    assert offsets_and_aborted(await client.ask(fetch(), 12)) == (1, 0, [])
    served.replicas.follower_holds(hosted, 2, 2, broker_epoch=20)
    assert written(await writer.answer(WriteTxnMarkersRequest.api, 1)) == [[ErrorCode.NONE]]
    assert offsets_and_aborted(await client.ask(fetch(), 12)) == (2, 2, [])


async def test_follower_nearby_serves_committed_records_as_far_as_it_knows_them_to_be_stable(served, client):
    served.lead("t", 2, leader=2, leader_epoch=1)
    hosted = served.replicas.get("t", 0)
    abort = build_marker(EndMarker(MarkerType.ABORT, 0), 7, 0, SystemClock().now_ms())
    for offset, batch in enumerate((data(7, 0), data(8, 0), abort)):
        patch_batch(batch, 0, offset, 1)
        served.replicas.take_fetched(hosted, memoryview(batch), 2, 0)
    assert offsets_and_aborted(await client.ask(fetch(rack_id="here"), 12)) == (2, 0, [])
    served.replicas.take_fetched(hosted, memoryview(b""), 3, 0)
    response = await client.ask(fetch(rack_id="here"), 12)
    assert (offsets_and_aborted(response), offsets(response)) == ((3, 1, [(7, 0)]), [0])


# -- markers


async def test_one_partitions_failure_keeps_no_other_from_its_marker(client):
    await client.ask(produce(data(7, 0), data(7, 0)), 11)
    request = markers(7, 0, 5, 1)
    assert await write(client, request) == [[ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE]]
    assert offsets_and_aborted(await client.ask(fetch(), 11)) == (2, 2, [])


async def test_marker_of_an_older_epoch_is_refused(client):
    await client.ask(produce(data(7, 0, epoch=3)), 11)
    assert await write(client, markers(7, epoch=2)) == [[ErrorCode.INVALID_PRODUCER_EPOCH]]
    assert await write(client, markers(7, epoch=4, is_commit=False)) == [[ErrorCode.NONE]]
    assert produced(await client.ask(produce(data(7, 1, epoch=3)), 11)) == [ErrorCode.INVALID_PRODUCER_EPOCH]


async def test_trap_35_marker_repeated_by_the_next_coordinator_is_taken_and_the_last_ones_refused(client):
    await client.ask(produce(data(7, 0)), 11)
    assert await write(client, markers(7, coordinator_epoch=5)) == [[ErrorCode.NONE]]
    assert await write(client, markers(7, coordinator_epoch=6)) == [[ErrorCode.NONE]]
    assert await write(client, markers(7, coordinator_epoch=5, is_commit=False)) == [
        [ErrorCode.TRANSACTION_COORDINATOR_FENCED]
    ]
    assert offsets_and_aborted(await client.ask(fetch(), 11)) == (3, 3, [])


async def test_a_marker_that_comes_late_ends_no_later_transaction_of_the_epoch_it_has_raised_to(client):
    """KIP-1228: before version 2 of WriteTxnMarkers it ended that one, in the middle."""
    await client.ask(produce(data(7, 0)), 11)
    late = markers(7, epoch=1, transaction_version=2)
    assert await write(client, late, version=2) == [[ErrorCode.NONE]]
    assert await write(client, late, version=2) == [[ErrorCode.NONE]], "nothing is open: it ends nothing"
    await client.ask(produce(data(7, 0, epoch=1)), 11)
    assert await write(client, late, version=2) == [[ErrorCode.INVALID_PRODUCER_EPOCH]]
    assert offsets_and_aborted(await client.ask(fetch(), 11)) == (4, 3, [])
    assert await write(client, markers(7, epoch=2, transaction_version=2), version=2) == [[ErrorCode.NONE]]
    assert offsets_and_aborted(await client.ask(fetch(), 11)) == (5, 5, [])


async def test_marker_is_refused_where_another_broker_leads(served, client):
    served.lead("t", 2, leader=2, leader_epoch=1)
    assert await write(client, markers(7)) == [[ErrorCode.NOT_LEADER_OR_FOLLOWER]]


async def test_trap_37_hanging_transaction_is_aborted_by_an_operator(client):
    await client.ask(produce(data(7, 0)), 11)
    await client.ask(produce(data(7, 1)), 11)
    assert await write(client, markers(7, is_commit=False, coordinator_epoch=0)) == [[ErrorCode.NONE]]
    assert offsets_and_aborted(await client.ask(fetch(), 11)) == (3, 3, [(7, 0)])


async def test_producers_of_a_partition_are_described_with_what_ends_a_hanging_transaction(aborted_and_open):
    client = aborted_and_open
    request = DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[0, 5])])
    known, unknown = (await client.ask(request, 0)).topics[0].partitions
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [
        (producer.producer_id, producer.last_sequence, producer.coordinator_epoch, producer.current_txn_start_offset)
        for producer in known.active_producers
    ] == [(7, 0, 0, -1), (8, 0, 0, -1), (9, 0, -1, 4)]
    assert all(producer.last_timestamp > 0 and producer.producer_epoch == 0 for producer in known.active_producers)


# -- verification


async def test_only_the_first_batch_of_a_transaction_is_verified(served, client):
    assert produced(await client.ask(produce(data(7, 0), data(7, 0)), 11)) == [ErrorCode.NONE] * 2
    assert produced(await client.ask(produce(data(7, 1), data(7, 1)), 11)) == [ErrorCode.NONE] * 2
    assert served.verified == [("copier", 7, 0, (P0, P1))]
    await write(client, markers(7, 0))
    await client.ask(produce(data(7, 2), data(7, 2)), 11)
    assert served.verified[1:] == [("copier", 7, 0, (P0,))]


async def test_batch_without_transaction_is_not_verified(served, client):
    await client.ask(produce(data(7, 0, is_transactional=False)), 11)
    assert served.verified == []


async def test_batch_of_a_transaction_needs_its_transactional_id(client):
    refused = await client.ask(produce(data(7, 0), transactional_id=None), 11)
    assert produced(refused) == [ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED]


async def test_no_batch_is_taken_before_the_one_that_could_not_be_verified_has_come_again(served, client):
    """The log knows nothing yet of the producer, so that any sequence would do (KIP-890)."""

    async def sent(sequence: int) -> ErrorCode:
        return produced(await client.ask(produce(data(7, sequence)), 11))[0]

    served.verdicts[P0] = ErrorCode.CONCURRENT_TRANSACTIONS
    assert await sent(0) is ErrorCode.NOT_ENOUGH_REPLICAS
    served.verdicts.clear()
    assert await sent(1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert [await sent(0), await sent(1)] == [ErrorCode.NONE, ErrorCode.NONE]


async def test_a_batch_that_arrives_again_long_after_keeps_no_later_one_from_its_turn(served, client):
    """The log knows the producer: it says itself which batch is the next. A copy waited in some network."""
    remembered = 5
    for sequence in range(remembered + 1):
        assert produced(await client.ask(produce(data(7, sequence)), 11)) == [ErrorCode.NONE]
        await write(client, markers(7, 0))
    assert produced(await client.ask(produce(data(7, 0)), 11)) == [ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER]
    assert produced(await client.ask(produce(data(7, remembered + 1)), 11)) == [ErrorCode.NONE]


@pytest.mark.parametrize(
    ("verdict", "version", "expected"),
    [
        (ErrorCode.TRANSACTION_ABORTABLE, 11, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.TRANSACTION_ABORTABLE, 10, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.INVALID_TXN_STATE, 11, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.PRODUCER_FENCED, 11, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.INVALID_PRODUCER_EPOCH, 9, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, 9, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 11, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 11, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.NOT_COORDINATOR, 3, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.NETWORK_EXCEPTION, 11, ErrorCode.NOT_ENOUGH_REPLICAS),
    ],
)
async def test_trap_37_unverified_batch_is_refused_and_its_neighbour_written(
    served, client, verdict, version, expected
):
    served.verdicts[P0] = verdict
    assert produced(await client.ask(produce(data(7, 0), data(7, 0)), version)) == [expected, ErrorCode.NONE]
    assert [served.replicas.get(*item).log.log_end_offset for item in (P0, P1)] == [0, 1]
    served.verdicts.clear()
    assert produced(await client.ask(produce(data(7, 0)), version)) == [ErrorCode.NONE]


async def test_trap_37_marker_written_during_the_verification_makes_it_worthless(served, client):
    served.verdicts[P0] = verdict = asyncio.get_running_loop().create_future()
    late = await served.member()
    await late.send_request(produce(data(7, 0)), 11)
    await eventually(lambda: served.verified, "the coordinator is asked")
    await write(client, markers(7, is_commit=False))
    verdict.set_result(ErrorCode.NONE)
    assert produced(await late.answer(ProduceRequest.api, 11)) == [ErrorCode.INVALID_TXN_STATE]
    assert offsets_and_aborted(await client.ask(fetch(), 11)) == (1, 1, [])


async def test_leader_that_lost_its_role_during_the_verification_writes_nothing(served, client):
    served.verdicts[P0] = verdict = asyncio.get_running_loop().create_future()
    await client.send_request(produce(data(7, 0)), 11)
    await eventually(lambda: served.verified, "the coordinator is asked")
    served.lead("t", 2, leader=2, leader_epoch=1)
    served.lead("t", 2, leader=1, leader_epoch=2)
    verdict.set_result(ErrorCode.NONE)
    assert produced(await client.answer(ProduceRequest.api, 11)) == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    assert served.replicas.get(*P0).log.log_end_offset == 0


async def test_producers_batches_keep_their_order_while_the_first_is_verified(served, client):
    """The second request needs no verification of its own by the time it has its turn, the third is of another one."""
    served.verdicts[P0] = verdict = asyncio.get_running_loop().create_future()
    for sequence in range(2):
        await client.send_request(produce(data(7, sequence)), 11)
    served_later = await served.member()
    served.verdicts[P1] = ErrorCode.NONE
    await eventually(lambda: served.verified, "the coordinator is asked")
    assert produced(await served_later.ask(produce(data(8, 0, is_transactional=False)), 11)) == [ErrorCode.NONE]
    verdict.set_result(ErrorCode.NONE)
    answers = [await client.answer(ProduceRequest.api, 11) for _ in range(2)]
    assert [produced(answer) for answer in answers] == [[ErrorCode.NONE]] * 2
    assert [answer.responses[0].partition_responses[0].base_offset for answer in answers] == [1, 2]
    assert len(served.verified) == 1


async def test_client_that_leaves_during_the_verification_leaves_nobody_in_line(served, client):
    served.verdicts[P0] = asyncio.get_running_loop().create_future()
    await client.send_request(produce(data(7, 0)), 11)
    await eventually(lambda: served.verified, "the coordinator is asked")
    client.writer.close()
    await eventually(lambda: served.verdicts[P0].cancelled(), "the question is taken back")
    served.verdicts.clear()
    next_client = await served.member()
    assert produced(await next_client.ask(produce(data(7, 0)), 11)) == [ErrorCode.NONE]


async def test_who_claims_a_producers_id_stands_in_no_line_of_its(served, client):
    """Whoever may write with one transactional id could hold up the producer of any other."""
    served.verdicts[P0] = asyncio.get_running_loop().create_future()
    hostile = await served.member()
    for _ in range(3):
        await hostile.send_request(produce(data(7, 0), transactional_id="hostile"), 11)
    await eventually(lambda: served.verified, "the coordinator is asked of the claim")
    served.verdicts[P0] = verdict = asyncio.get_running_loop().create_future()
    await client.send_request(produce(data(7, 0)), 11)
    await eventually(lambda: len(served.verified) == 2, "and of the producer that has the id")
    hostile.writer.close()
    verdict.set_result(ErrorCode.NONE)
    assert produced(await client.answer(ProduceRequest.api, 11)) == [ErrorCode.NONE]


async def test_so_many_small_batches_wait_as_the_memory_they_take_allows(served, client, monkeypatch):
    """Each of another producer, as anybody may claim: a batch of 70 bytes that waits takes 50 times as much."""
    monkeypatch.setattr(transactional_appends, "VERIFYING_BYTES_MAX", 10 * (len(data(0, 0)) + 5 * 1024))
    served.verdicts[P0] = verdict = asyncio.get_running_loop().create_future()
    for producer_id in range(10):
        await client.send_request(produce(data(producer_id, 0)), 11)
    await eventually(lambda: len(served.verified) == 10, "the coordinator is asked of each")
    other = await served.member()
    assert produced(await other.ask(produce(data(10, 0)), 11)) == [ErrorCode.NOT_ENOUGH_REPLICAS]
    verdict.set_result(ErrorCode.NONE)
    for _ in range(10):
        assert produced(await client.answer(ProduceRequest.api, 11)) == [ErrorCode.NONE]
    assert produced(await other.ask(produce(data(10, 0)), 11)) == [ErrorCode.NONE]


@pytest.mark.parametrize(("producer_id", "epoch"), [(8, 0), (7, 1)])
@pytest.mark.parametrize("partitions", [(P0, P1), (P0, P0)])
async def test_request_of_two_producers_is_refused(served, client, producer_id, epoch, partitions):
    """Also if it names a partition twice: verified for one, it would open a transaction nobody ends for the other."""
    refused = await client.ask(produce(data(producer_id, 0, epoch), data(7, 0), partitions=partitions), 11)
    assert produced(refused) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2
    assert [served.replicas.get(*item).log.log_end_offset for item in (P0, P1)] == [0, 0]


async def test_partition_that_a_request_names_twice_gets_both_batches(served, client):
    assert produced(await client.ask(produce(data(7, 0), data(7, 1), partitions=(P0, P0)), 11)) == [ErrorCode.NONE] * 2
    assert served.verified == [("copier", 7, 0, (P0,))]
    assert offsets(await client.ask(fetch(is_committed=False), 11)) == [0, 1]
    await write(client, markers(7))
    assert offsets_and_aborted(await client.ask(fetch(), 11)) == (3, 3, [])
