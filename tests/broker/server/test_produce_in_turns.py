"""Produce requests that would take long: what is unpacked has a budget, and all goes in turns, in order."""

from dataclasses import replace

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import PRODUCED_DECOMPRESSED_BYTES_MAX, THINGS_IN_A_TURN
from broker.log.compaction import record_spans
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.broker.server.conftest import request_frame

_SHARE = PRODUCED_DECOMPRESSED_BYTES_MAX * 5 // 11  # two of them are within the budget, three are not
_TIME = 1_700_000_000_000


def batch(*values: bytes, key: bytes | None = b"k", compression=Compression.ZSTD, **producer) -> bytearray:
    return build_batch([Record(0, _TIME, key, value) for value in values], compression=compression, **producer)


def produce(*batches, acks: int = 1, transactional_id=None) -> ProduceRequest:
    data = [PartitionProduceData(index=0, records=item) for item in batches]
    topic = TopicProduceData(name="t", partition_data=data)
    return ProduceRequest(transactional_id=transactional_id, acks=acks, timeout_ms=1_000, topic_data=[topic])


def codes(answer) -> list[ErrorCode]:
    return [response.error_code for topic in answer.responses for response in topic.partition_responses]


@pytest.fixture
def compacted(served):
    served.lead("t")
    log = served.replicas.get("t", 0).log
    log.config = replace(log.config, cleanup_policy=("compact",))
    return log


@pytest.fixture
def unpacked(monkeypatch) -> list[int]:
    """Bytes each call may have unpacked."""
    seen = []
    real = record_spans.decompress

    def decompress(compression, payload, limit):
        seen.append(limit)
        unpacked_bytes = real(compression, payload, limit)
        seen[-1] = len(unpacked_bytes)
        return unpacked_bytes

    monkeypatch.setattr(record_spans, "decompress", decompress)
    return seen


@pytest.mark.parametrize("transactional_id", [None, "txn"])
async def test_one_request_unpacks_no_more_than_its_budget(served, compacted, unpacked, transactional_id):
    """A megabyte of small batches would otherwise keep the loop for half a minute."""
    producer = {"producer_id": 1, "producer_epoch": 0, "is_transactional": True} if transactional_id else {}
    sizes = {"base_sequence": 0} if transactional_id else {}
    bombs = [batch(bytes(_SHARE), **producer, **({"base_sequence": n} if sizes else {})) for n in range(300)]
    answer = await (await served.client()).ask(produce(*bombs, transactional_id=transactional_id), 9)
    assert codes(answer) == [ErrorCode.NONE] * 2 + [ErrorCode.NOT_ENOUGH_REPLICAS] * 298
    assert "unpack to more than 16 MB" in answer.responses[0].partition_responses[-1].error_message
    assert sum(unpacked) <= 2 * PRODUCED_DECOMPRESSED_BYTES_MAX
    assert compacted.log_end_offset == 2


async def test_what_was_beyond_the_budget_is_taken_when_it_comes_first(served, compacted):
    client = await served.client()
    large = [batch(bytes(_SHARE)) for _ in range(3)]
    assert codes(await client.ask(produce(*large), 9)) == [
        ErrorCode.NONE,
        ErrorCode.NONE,
        ErrorCode.NOT_ENOUGH_REPLICAS,
    ]
    assert codes(await client.ask(produce(large[2]), 9)) == [ErrorCode.NONE]


@pytest.mark.parametrize("compression", [Compression.ZSTD, Compression.NONE])
async def test_a_batch_without_keys_is_refused_beside_good_ones(served, compacted, compression):
    values = [b"v"] * 3_000
    sent = [batch(*values, compression=compression, key=key) for key in (b"k", None, b"k")]
    answer = await (await served.client()).ask(produce(*sent), 9)
    assert codes(answer) == [ErrorCode.NONE, ErrorCode.INVALID_RECORD, ErrorCode.NONE]
    assert compacted.log_end_offset == 6_000


async def test_nothing_of_the_connection_overtakes_batches_that_are_looked_at(served, compacted):
    first, second = batch(*[b"v"] * 5_000), batch(b"small", compression=Compression.NONE)
    client = await served.client()
    await client.send(request_frame(produce(first), 9, 1) + request_frame(produce(second), 9, 2))
    answers = [await client.answer(produce(b"").api, 9, number) for number in (1, 2)]
    assert [answer.responses[0].partition_responses[0].base_offset for answer in answers] == [0, 5_000]


async def test_nothing_overtakes_a_request_of_many_partitions_either(served):
    count = THINGS_IN_A_TURN * 3 + 7
    served.lead("t", partitions=count)
    small = [batch(b"v", compression=Compression.NONE) for _ in range(count)]
    many = produce(*small)
    for index, data in enumerate(many.topic_data[0].partition_data):
        data.index = index
    last = produce(batch(b"later", compression=Compression.NONE))
    last.topic_data[0].partition_data[0].index = count - 1
    client = await served.client()
    await client.send(request_frame(many, 9, 1) + request_frame(last, 9, 2))
    assert codes(await client.answer(many.api, 9, 1)) == [ErrorCode.NONE] * count
    assert (await client.answer(last.api, 9, 2)).responses[0].partition_responses[0].base_offset == 1


async def test_others_are_answered_while_batches_are_looked_at(served, compacted):
    """The bystander asked last and is answered first."""
    attacker, bystander = await served.client(), await served.client()
    await bystander.ask(ApiVersionsRequest(), 0)
    await attacker.send_request(produce(*[batch(*[b"v"] * 9_000)] * 20), 9)
    await bystander.ask(ApiVersionsRequest(), 0)
    assert compacted.log_end_offset < 20 * 9_000
    assert codes(await attacker.answer(produce(b"").api, 9)) == [ErrorCode.NONE] * 20


async def test_acks_0_is_still_not_answered(served, compacted):
    client = await served.client()
    await client.send_request(produce(batch(*[b"v"] * 2_000), acks=0), 9)
    await client.ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0), 1)
    assert compacted.log_end_offset == 2_000


@pytest.mark.parametrize("transactional_id", [None, "txn"])
@pytest.mark.parametrize("compression", [Compression.NONE, Compression.ZSTD])
async def test_the_one_record_without_a_key_is_named_to_its_producer(served, compacted, compression, transactional_id):
    """So that a client fails that record, and says of the others that they were its neighbours (KIP-467)."""
    keys = (b"a", None, b"b")
    sent = build_batch([Record(0, _TIME, key, b"v") for key in keys], compression=compression)
    answer = await (await served.client()).ask(produce(sent, transactional_id=transactional_id), 9)
    (refused,) = answer.responses[0].partition_responses
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in refused.record_errors] == [1]
    assert "without a key" in refused.record_errors[0].batch_index_error_message
    assert compacted.log_end_offset == 0
