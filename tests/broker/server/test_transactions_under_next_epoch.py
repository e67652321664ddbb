"""Transactions whose end raises the epoch, over sockets, on a real broker (KIP-890, part 2)."""

import asyncio

import pytest

from broker.common.clock import SystemClock
from broker.common.errors import ErrorCode
from broker.common.features import SUPPORTED_FEATURES, TRANSACTION_VERSION
from broker.config.broker import read_broker_config
from broker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from broker.protocol.messages.end_txn import EndTxnRequest
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.find_coordinator import FindCoordinatorRequest
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from broker.records.batch import iterate_headers
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records
from broker.server.broker import Broker
from tests.broker.server.conftest import Client
from tests.eventually import eventually

ID, TOPIC, GROUP = "copier", "t", "g"


class Producer:
    """A client whose Produce and TxnOffsetCommit add what they write to its transaction."""

    def __init__(self, client: Client):
        self.client = client
        self.id, self.epoch, self.sequence = -1, -1, 0

    async def init(self) -> None:
        request = InitProducerIdRequest(transactional_id=ID, transaction_timeout_ms=30_000)
        answer = await self._until_ended(lambda: self.client.ask(request, 5))
        assert answer.error_code == ErrorCode.NONE
        self.id, self.epoch, self.sequence = answer.producer_id, answer.producer_epoch, 0

    async def write(self, value: bytes, *, epoch: int | None = None) -> ErrorCode:
        batch = build_batch(
            [Record(0, SystemClock().now_ms(), None, value)],
            producer_id=self.id,
            producer_epoch=self.epoch if epoch is None else epoch,
            base_sequence=self.sequence,
            is_transactional=True,
        )
        data = TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(records=batch)])
        request = ProduceRequest(transactional_id=ID, acks=-1, timeout_ms=10_000, topic_data=[data])
        answer = (await self.client.ask(request, 12)).responses[0].partition_responses[0]
        self.sequence += answer.error_code == ErrorCode.NONE
        return ErrorCode(answer.error_code)

    async def commit_offset(self, offset: int) -> ErrorCode:
        partition = TxnOffsetCommitRequestPartition(committed_offset=offset)
        request = TxnOffsetCommitRequest(
            transactional_id=ID,
            group_id=GROUP,
            producer_id=self.id,
            producer_epoch=self.epoch,
            topics=[TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[partition])],
        )
        return ErrorCode((await self.client.ask(request, 5)).topics[0].partitions[0].error_code)

    async def end(self, *, is_commit: bool = True) -> ErrorCode:
        request = EndTxnRequest(
            transactional_id=ID, producer_id=self.id, producer_epoch=self.epoch, committed=is_commit
        )
        answer = await self._until_ended(lambda: self.client.ask(request, 5))
        if answer.error_code == ErrorCode.NONE:
            self.id, self.epoch, self.sequence = answer.producer_id, answer.producer_epoch, 0
        return ErrorCode(answer.error_code)

    async def _until_ended(self, ask):
        """As clients do while the transaction before is being ended."""
        async with asyncio.timeout(10):
            while (answer := await ask()).error_code == ErrorCode.CONCURRENT_TRANSACTIONS:
                await asyncio.sleep(0.01)
            return answer


@pytest.fixture(params=[2, 0], ids=["finalized", "not finalized"])
def level(request) -> int:
    return request.param


@pytest.fixture
async def broker(tmp_path, zookeeper, request, level):
    config = read_broker_config(
        "broker.id=1\nlisteners=PLAINTEXT://127.0.0.1:0\noffsets.topic.num.partitions=1\n"
        "transaction.state.log.num.partitions=1\noffsets.topic.replication.factor=1\n"
        "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n"
        f"log.dirs={tmp_path}\nzookeeper.connect=127.0.0.1:{zookeeper.port}/{request.node.name[:60]}\n"
    )
    running = Broker(config, supported_features=SUPPORTED_FEATURES if level else ())
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def client(broker):
    client = Client(*await asyncio.open_connection("127.0.0.1", broker._parts.addresses.advertised[0].port))
    await eventually(lambda: broker.services.metadata.brokers, "the controller to tell of brokers")
    topic = CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)
    await client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7)
    for key_type, name in ((0, GROUP), (1, ID)):  # which makes the internal topics
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[name])
        async with asyncio.timeout(10):
            while (await client.ask(request, 4)).coordinators[0].error_code:
                await asyncio.sleep(0.01)
    return client


@pytest.fixture
async def producer(client):
    producer = Producer(client)
    async with asyncio.timeout(10):
        while producer.id < 0:
            try:
                await producer.init()
            except AssertionError:  # its coordinator is being loaded
                await asyncio.sleep(0.01)
    return producer


async def committed(client: Client) -> list[bytes]:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000_000)
    request = FetchRequest(
        max_bytes=1_000_000, isolation_level=1, topics=[FetchTopic(topic=TOPIC, partitions=[partition])]
    )
    answer = (await client.ask(request, 11)).responses[0].partitions[0]
    aborted = {(item.producer_id, item.first_offset) for item in answer.aborted_transactions or ()}
    data, values = bytes(answer.records or b""), []
    for at, header in iterate_headers(data):
        if not header.is_control and (header.producer_id, header.base_offset) not in aborted:
            values += [record.value for record in decode_records(data[at : at + header.size_bytes])]
    return values


async def reads(client: Client, values: list[bytes]) -> None:
    """Wait for the markers, which may still be on their way."""
    async with asyncio.timeout(10):
        while len(seen := await committed(client)) < len(values):
            await asyncio.sleep(0.01)
    assert seen == values


@pytest.mark.parametrize("level", [2], indirect=True)
async def test_records_and_offsets_are_added_by_what_writes_them_and_end_with_the_transaction(client, producer):
    epoch = producer.epoch
    assert await producer.write(b"one") is ErrorCode.NONE
    assert await producer.commit_offset(7) is ErrorCode.NONE
    assert await producer.end() is ErrorCode.NONE
    assert producer.epoch == epoch + 1
    assert await producer.write(b"two") is ErrorCode.NONE
    assert await producer.commit_offset(9) is ErrorCode.NONE
    assert await producer.end(is_commit=False) is ErrorCode.NONE
    assert await producer.write(b"three") is ErrorCode.NONE
    assert await producer.end() is ErrorCode.NONE
    assert producer.epoch == epoch + 3
    await reads(client, [b"one", b"three"])
    topics = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=GROUP, topics=topics)], require_stable=True)
    (group,) = (await client.ask(request, 8)).groups
    assert group.topics[0].partitions[0].committed_offset == 7


@pytest.mark.parametrize("level", [2], indirect=True)
async def test_what_comes_late_is_in_no_later_transaction(client, producer):
    epoch = producer.epoch
    await producer.write(b"one")
    await producer.end()
    assert await producer.write(b"late", epoch=epoch) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert await producer.write(b"two") is ErrorCode.NONE
    await producer.end()
    await reads(client, [b"one", b"two"])


@pytest.mark.parametrize("level", [2], indirect=True)
async def test_the_first_batch_of_a_producer_in_a_partition_has_the_sequence_0(client, producer):
    """Of a later one the log could not tell whether it is the next: it knows nothing of the producer."""
    producer.sequence = 1
    assert await producer.write(b"later") is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    producer.sequence = 0
    assert [await producer.write(b"first"), await producer.write(b"later")] == [ErrorCode.NONE, ErrorCode.NONE]
    assert await producer.end() is ErrorCode.NONE
    await reads(client, [b"first", b"later"])


@pytest.mark.parametrize("level", [0], indirect=True)
async def test_nothing_is_added_or_raised_before_the_cluster_finalizes_it(broker, client, producer):
    assert broker.services.features.level_of(TRANSACTION_VERSION) == 0
    assert await producer.write(b"one") is ErrorCode.TRANSACTION_ABORTABLE
    epoch = producer.epoch
    assert await producer.end() is ErrorCode.INVALID_TXN_STATE
    assert producer.epoch == epoch
