"""Produce: what a client may not write is refused partition by partition, whatever else the broker would say of it."""

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from broker.security.operations import AclOperation
from tests.broker.server.authorization.allowed import Allowed, client_with, on_cluster, on_topic, on_transaction
from tests.broker.server.authorization.shapes import codes_in
from tests.broker.server.test_bad_input import batch_of, produce
from tests.broker.server.test_compression_type import configure

WRITE = on_topic(AclOperation.WRITE)
TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
TRANSACTION = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def to(*topics: str, acks: int = 1) -> ProduceRequest:
    request = produce(batch_of(b"x"), acks=acks)
    request.topic_data = [produce(batch_of(b"x"), topic=topic).topic_data[0] for topic in topics]
    return request


def of_transaction(transactional_id: str | None) -> ProduceRequest:
    records = [Record(0, 1_700_000_000_000, None, b"x")]
    batch = build_batch(records, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    request = produce(batch)
    request.topic_data[0].partition_data.append(PartitionProduceData(index=1, records=batch_of(b"x")))
    request.transactional_id = transactional_id
    return request


def end_of(served, topic: str = "t") -> int:
    return served.replicas.get(topic, 0).log.log_end_offset


async def test_what_may_be_written_to_untold_is_not_asked_for_again_but_within_a_transaction(full):
    rights = Allowed()
    rights.untold_writes.add("t")
    client = await client_with(full, rights)
    assert list(codes_in(await client.ask(to("t"), 9))) == [ErrorCode.NONE]
    assert (end_of(full), rights.denied) == (1, [])
    for transactional_id in (None, "x"):
        request = of_transaction(transactional_id)
        request.topic_data[0].partition_data.pop()
        assert list(codes_in(await client.ask(request, 9))) == [TRANSACTION]
    assert list(codes_in(await client.ask(to("t", "t2"), 9))) == [TOPIC, TOPIC]
    assert end_of(full) == 1


@pytest.mark.parametrize("acks", [1, -1])
async def test_answers_come_in_the_order_of_the_request(full, acks):
    client = await client_with(full, [WRITE])
    response = await client.ask(to("missing", "t", OFFSETS_TOPIC, acks=acks), 9)
    codes = [(item.name, item.partition_responses[0].error_code) for item in response.responses]
    assert codes == [("missing", TOPIC), ("t", ErrorCode.NONE), (OFFSETS_TOPIC, TOPIC)]
    assert end_of(full) == 1


async def test_a_request_that_is_answered_in_turns_asks_for_each_topic_once(full):
    names = [f"no{number}" for number in range(THINGS_IN_A_TURN)]
    rights = Allowed([WRITE])
    response = await (await client_with(full, rights)).ask(to(*names, "t"), 9)
    assert list(codes_in(response)) == [TOPIC] * len(names) + [ErrorCode.NONE]
    assert rights.denied == [on_topic(AclOperation.WRITE, name) for name in names]


async def test_refused_comes_before_acks_that_do_not_exist_and_before_a_missing_batch(full):
    client = await client_with(full, [])
    request = to("t", acks=5)
    request.topic_data.append(TopicProduceData(name="t2", partition_data=[PartitionProduceData(index=0, records=None)]))
    assert list(codes_in(await client.ask(request, 9))) == [TOPIC, TOPIC]


async def test_a_missing_batch_is_the_fault_where_writing_is_allowed(full):
    client = await client_with(full, [WRITE])
    request = to("t")
    request.topic_data[0].partition_data[0].records = None
    assert list(codes_in(await client.ask(request, 9))) == [ErrorCode.INVALID_RECORD]


@pytest.mark.parametrize("request_", [to("t", "no", acks=0), of_transaction("x")], ids=["a topic", "a transaction"])
async def test_without_acks_the_connection_is_closed(full, request_):
    request_.acks = 0
    client = await client_with(full, [WRITE] if request_.transactional_id is None else [])
    await client.send_request(request_, 9)
    assert await client.is_closed()


@pytest.mark.parametrize("transactional_id", ["x", "", None])
async def test_a_batch_of_a_transaction_needs_the_right_to_its_id_and_else_all_is_refused(full, transactional_id):
    client = await client_with(full, [WRITE, on_transaction(AclOperation.WRITE, "y")])
    response = await client.ask(of_transaction(transactional_id), 9)
    assert list(codes_in(response)) == [TRANSACTION, TRANSACTION]
    assert not full.verified
    assert end_of(full) == 0


async def test_a_transactional_id_that_is_not_used_is_not_asked_for(full):
    request = to("t")
    request.transactional_id = "not mine"
    response = await (await client_with(full, [WRITE])).ask(request, 9)
    assert list(codes_in(response)) == [ErrorCode.NONE]


async def test_of_a_transaction_only_the_partitions_that_may_be_written_to_are_verified(full):
    client = await client_with(full, [WRITE, on_transaction(AclOperation.WRITE)])
    request = of_transaction("x")
    request.topic_data[0].partition_data.pop()
    forbidden = of_transaction("x").topic_data[0]
    forbidden.name = "no"
    request.topic_data.append(forbidden)
    response = await client.ask(request, 9)
    assert list(codes_in(response)) == [ErrorCode.NONE, TOPIC, TOPIC]
    ((_, _, _, partitions),) = full.verified
    assert [partition.topic for partition in partitions] == ["t"]


async def test_what_may_not_be_written_is_not_packed_anew_first(full):
    await configure(full, compression_type="gzip")
    assert full.replicas.get("t", 0).log.config.packing is not None
    client = await client_with(full, [])
    assert list(codes_in(await client.ask(to("t"), 9))) == [TOPIC]
    assert end_of(full) == 0


async def test_rights_count_from_the_next_request_on(full):
    rights = Allowed([WRITE])
    client = await client_with(full, rights)
    assert list(codes_in(await client.ask(to("t"), 9))) == [ErrorCode.NONE]
    rights.rights.clear()
    assert list(codes_in(await client.ask(to("t"), 9))) == [TOPIC]
    rights.rights.add(WRITE)
    assert list(codes_in(await client.ask(to("t"), 9))) == [ErrorCode.NONE]


@pytest.mark.parametrize(
    "right", [None, on_cluster(AclOperation.IDEMPOTENT_WRITE), on_topic(AclOperation.WRITE, "any")]
)
async def test_an_id_of_an_idempotent_producer_is_for_who_may_write_anywhere(full, right):
    """KIP-679; a denial is told once, not for each way to the right."""
    rights = Allowed([right] if right else [])
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    response = await (await client_with(full, rights)).ask(request, 4)
    assert response.error_code == (ErrorCode.NONE if right else ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    assert rights.denied == ([] if right else [on_cluster(AclOperation.IDEMPOTENT_WRITE)])


async def test_an_id_of_a_transactional_producer_needs_the_right_to_its_id(full):
    client = await client_with(full, [on_cluster(AclOperation.IDEMPOTENT_WRITE), on_transaction(AclOperation.WRITE)])
    for transactional_id, code in (("x", ErrorCode.NONE), ("y", TRANSACTION), ("", TRANSACTION)):
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=1000)
        assert (await client.ask(request, 4)).error_code == code
