"""Producers and their transaction coordinator, over a real socket: from the first InitProducerId to the last marker."""

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.partitions import partition_for
from broker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest
from broker.protocol.messages.end_txn import EndTxnRequest
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from broker.records.batch import iterate_headers
from broker.runtime.coordinators import transaction_coordinators
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC, TRANSACTION_TOPIC
from tests.broker.server.conftest import request_frame
from tests.broker.server.test_transactions import data, produce, produced
from tests.eventually import eventually

ID = "copier"
COORDINATORS = 3


class Producer:
    """Speaks the newest versions, or those it is told to."""

    def __init__(self, client):
        self._client = client
        self.producer_id = self.epoch = -1

    async def init(self, version: int = 4, transactional_id: str = ID, timeout_ms: int = 60_000) -> ErrorCode:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
        answer = await self._client.ask(request, version)
        if answer.error_code == ErrorCode.NONE:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        return ErrorCode(answer.error_code)

    async def add(self, *partitions: TopicPartition, version: int = 3) -> dict[TopicPartition, ErrorCode]:
        answer = await self._client.ask(
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=ID,
                v3_and_below_producer_id=self.producer_id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=[AddPartitionsToTxnTopic(name=t, partitions=[i]) for t, i in partitions],
            ),
            version,
        )
        return _codes(answer.results_by_topic_v3_and_below)

    async def add_offsets(self, group_id: str, version: int = 3) -> ErrorCode:
        request = AddOffsetsToTxnRequest(
            transactional_id=ID, producer_id=self.producer_id, producer_epoch=self.epoch, group_id=group_id
        )
        return ErrorCode((await self._client.ask(request, version)).error_code)

    async def end(self, *, is_commit: bool = True, version: int = 3) -> ErrorCode:
        request = EndTxnRequest(
            transactional_id=ID, producer_id=self.producer_id, producer_epoch=self.epoch, committed=is_commit
        )
        return ErrorCode((await self._client.ask(request, version)).error_code)

    async def write(self, sequence: int = 0) -> list[ErrorCode]:
        batch = data(self.producer_id, sequence, self.epoch)
        return produced(await self._client.ask(produce(batch, transactional_id=ID), 9))


def _codes(results) -> dict[TopicPartition, ErrorCode]:
    return {
        TopicPartition(topic.name, partition.partition_index): ErrorCode(partition.partition_error_code)
        for topic in results
        for partition in topic.results_by_partition
    }


@pytest.fixture
async def client(served):
    served.lead(TRANSACTION_TOPIC, COORDINATORS)
    served.tell_of(TRANSACTION_TOPIC, COORDINATORS)
    served.lead("t", 2)
    served.tell_of("t", 2)
    return await served.client()


@pytest.fixture
async def producer(client):
    producer = Producer(client)
    assert await producer.init() == ErrorCode.NONE
    return producer


T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


async def state_of(client, transactional_id: str = ID) -> str:
    answer = await client.ask(DescribeTransactionsRequest(transactional_ids=[transactional_id]), 0)
    return answer.transaction_states[0].transaction_state


@pytest.mark.parametrize("is_commit", [True, False])
async def test_transaction_ends_with_a_marker_in_each_of_its_partitions(served, client, producer, is_commit):
    assert await state_of(client) == "Empty"
    assert set((await producer.add(T0, T1)).values()) == {ErrorCode.NONE}
    assert await producer.write() == [ErrorCode.NONE]
    assert await state_of(client) == "Ongoing"
    assert await producer.end(is_commit=is_commit) == ErrorCode.NONE
    expected = "CompleteCommit" if is_commit else "CompleteAbort"
    await eventually(lambda: not len(served.markers), "the markers are written")
    assert await state_of(client) == expected
    for index, records in ((0, 1), (1, 0)):
        log = served.replicas.get("t", index).log
        headers = [header for _, header in iterate_headers(memoryview(log.read(0, 10_000, 9).read()))]
        assert [header.is_control for header in headers] == [False] * records + [True]
        assert log.last_stable_offset(log.log_end_offset) == log.log_end_offset


async def test_next_transaction_may_begin_at_once(served, producer):
    """Its request is held until the markers of the one before are written, instead of being refused."""
    for sequence in range(20):
        assert await producer.add(T0) == {T0: ErrorCode.NONE}
        assert await producer.write(sequence) == [ErrorCode.NONE]
        assert await producer.end() == ErrorCode.NONE
    assert await producer.add_offsets("g") == ErrorCode.NONE


async def test_next_transaction_is_refused_while_a_marker_cannot_be_written(served, client, producer):
    await producer.add(T0)
    served.lead("t", 2, leader=2, leader_epoch=1)
    served.tell_of("t", 2, leader=-1)
    assert await producer.end() == ErrorCode.NONE
    assert await producer.add(T1) == {T1: ErrorCode.CONCURRENT_TRANSACTIONS}
    assert await producer.add_offsets("g") == ErrorCode.CONCURRENT_TRANSACTIONS
    assert await state_of(client) == "PrepareCommit"
    served.lead("t", 2, leader_epoch=2)
    served.tell_of("t", 2)
    await eventually(lambda: not len(served.markers), "the markers are written")
    assert await producer.add(T1) == {T1: ErrorCode.NONE}


async def test_decided_transaction_is_ended_by_whoever_coordinates_next(served, client, producer):
    await producer.add(T0)
    served.lead("t", 2, leader=2, leader_epoch=1)
    served.tell_of("t", 2, leader=-1)
    await producer.end(is_commit=False)
    served.lead(TRANSACTION_TOPIC, COORDINATORS, leader=2, leader_epoch=1)
    assert (len(served.markers), await producer.end()) == (0, ErrorCode.NOT_COORDINATOR)
    served.lead(TRANSACTION_TOPIC, COORDINATORS, leader_epoch=2)
    served.lead("t", 2, leader_epoch=2)
    served.tell_of("t", 2)
    await eventually(lambda: served.replicas.get("t", 0).log.log_end_offset == 1, "the marker is written")
    await eventually(lambda: not len(served.markers), "the coordinator knows")
    assert await state_of(client) == "CompleteAbort"


@pytest.mark.parametrize(
    ("ask", "old", "new"),
    [
        (lambda producer, version: producer.end(version=version), 1, 2),
        (lambda producer, version: producer.add_offsets("g", version=version), 1, 2),
        (lambda producer, version: producer.add(T0, version=version), 1, 2),
    ],
)
async def test_fenced_producer_hears_it_in_the_words_of_its_version(served, client, producer, ask, old, new):
    successor = Producer(client)
    assert await successor.init() == ErrorCode.NONE
    assert (successor.producer_id, successor.epoch) == (producer.producer_id, producer.epoch + 1)
    for version, code in ((old, ErrorCode.INVALID_PRODUCER_EPOCH), (new, ErrorCode.PRODUCER_FENCED)):
        answer = await ask(producer, version)
        assert (answer[T0] if isinstance(answer, dict) else answer) == code


async def test_partition_that_does_not_exist_keeps_the_others_out_of_the_transaction(client, producer):
    missing = TopicPartition("t", 2)
    assert await producer.add(T0, missing) == {
        T0: ErrorCode.OPERATION_NOT_ATTEMPTED,
        missing: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert await state_of(client) == "Empty"


async def test_offsets_partition_of_the_group_becomes_part_of_the_transaction(served, client, producer):
    assert await producer.add_offsets("g") == ErrorCode.NONE
    answer = await client.ask(DescribeTransactionsRequest(transactional_ids=[ID]), 0)
    [topic] = answer.transaction_states[0].topics
    count = served.metadata.partition_count(OFFSETS_TOPIC)
    assert (topic.topic, topic.partitions) == (OFFSETS_TOPIC, [partition_for("g", count)])


async def test_transactions_of_one_request_are_each_put_to_their_own_coordinator(served, client, producer):
    """Two coordinators, of which one is led elsewhere."""
    other = next(
        f"id-{n}" for n in range(9) if partition_for(f"id-{n}", COORDINATORS) != partition_for(ID, COORDINATORS)
    )
    await producer.add(T0)
    elsewhere = TopicPartition(TRANSACTION_TOPIC, partition_for(other, COORDINATORS))
    served.replicas.stop_replica(elsewhere, delete=False)
    transactions = [
        AddPartitionsToTxnTransaction(
            transactional_id=item,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            verify_only=True,
            topics=[AddPartitionsToTxnTopic(name="t", partitions=[0, 1])],
        )
        for item in (ID, other)
    ]
    client = await served.member()
    answer = await client.ask(AddPartitionsToTxnRequest(transactions=transactions), 5)
    results = {state.transactional_id: _codes(state.topic_results) for state in answer.results_by_transaction}
    assert results[ID] == {T0: ErrorCode.NONE, T1: ErrorCode.TRANSACTION_ABORTABLE}
    assert set(results[other].values()) == {ErrorCode.NOT_COORDINATOR}
    answer = await client.ask(AddPartitionsToTxnRequest(transactions=transactions), 4)
    assert _codes(answer.results_by_transaction[0].topic_results)[T1] == ErrorCode.INVALID_TXN_STATE


async def test_producer_id_that_was_not_needed_is_given_to_the_next_who_asks(client, producer):
    same, other = Producer(client), Producer(client)
    await same.init()
    await other.init(transactional_id="other")
    assert (same.producer_id, other.producer_id) == (producer.producer_id, producer.producer_id + 1)


@pytest.mark.parametrize(
    ("transactional_id", "timeout_ms", "code"),
    [
        ("", 60_000, ErrorCode.INVALID_REQUEST),
        (ID, 0, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        (ID, 900_001, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
    ],
)
async def test_producers_that_ask_for_what_cannot_be_are_refused(client, transactional_id, timeout_ms, code):
    assert await Producer(client).init(transactional_id=transactional_id, timeout_ms=timeout_ms) == code


async def test_every_request_is_refused_where_nothing_is_coordinated(served):
    served.tell_of("t")
    served.tell_of(OFFSETS_TOPIC)
    producer = Producer(await served.client())
    assert await producer.init() == ErrorCode.NOT_COORDINATOR
    producer.producer_id = producer.epoch = 0
    assert await producer.add(T0) == {T0: ErrorCode.NOT_COORDINATOR}
    assert await producer.add_offsets("g") == ErrorCode.NOT_COORDINATOR
    assert await producer.end() == ErrorCode.NOT_COORDINATOR


async def test_transactions_of_all_coordinators_are_listed(client, producer):
    for number in range(6):
        await Producer(client).init(transactional_id=f"id-{number}")
    await producer.add(T0)
    everything = await client.ask(ListTransactionsRequest(state_filters=[], producer_id_filters=[]), 1)
    assert {state.transactional_id for state in everything.transaction_states} == {ID, *(f"id-{n}" for n in range(6))}
    ongoing = await client.ask(ListTransactionsRequest(state_filters=["Ongoing", "Odd"], producer_id_filters=[]), 1)
    assert [state.transactional_id for state in ongoing.transaction_states] == [ID]
    assert ongoing.unknown_state_filters == ["Odd"]


def adding_partition(producer) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=ID,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[T1.partition])],
    )


def adding_offsets(producer) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=ID, producer_id=producer.producer_id, producer_epoch=producer.epoch, group_id="g"
    )


@pytest.mark.parametrize("adding", [adding_partition, adding_offsets])
async def test_an_end_does_not_overtake_what_waits_for_the_markers_of_the_last_transaction(
    served, client, producer, adding, monkeypatch
):
    """Kafka handles the requests of a connection in order, and librdkafka sends an abort without waiting."""
    monkeypatch.setattr(transaction_coordinators, "_ENDED_WITHIN_S", 60)
    assert await producer.add_offsets("g") == ErrorCode.NONE
    await producer.add(T0)
    served.lead("t", 2, leader=2, leader_epoch=1)
    served.tell_of("t", 2, leader=-1)
    assert await producer.end() == ErrorCode.NONE
    added = adding(producer)
    ended = EndTxnRequest(
        transactional_id=ID, producer_id=producer.producer_id, producer_epoch=producer.epoch, committed=False
    )
    await client.send(request_frame(added, 3, 1) + request_frame(ended, 3, 2))
    other = await served.client()
    for _ in range(3):
        assert await state_of(other) == "PrepareCommit"
    served.lead("t", 2, leader_epoch=2)
    served.tell_of("t", 2)
    first = await client.answer(added.api, 3, 1)
    if adding is adding_partition:
        assert _codes(first.results_by_topic_v3_and_below) == {T1: ErrorCode.NONE}
    else:
        assert ErrorCode(first.error_code) is ErrorCode.NONE
    assert ErrorCode((await client.answer(ended.api, 3, 2)).error_code) is ErrorCode.NONE
