"""Lists leave out what the client may not see, and tell neither it nor the authorizer's log."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from broker.protocol.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.list_groups import ListGroupsRequest
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from broker.security.operations import AclOperation
from tests.broker.server.authorization.allowed import (
    Allowed,
    client_with,
    on_cluster,
    on_group,
    on_topic,
    on_transaction,
)

MANY = 250


def see(number: int) -> bool:
    return number % 2 == 0


async def commit(served, group: str, *topics: str) -> None:
    named = [
        OffsetCommitRequestTopic(name=topic, partitions=[OffsetCommitRequestPartition(committed_offset=1)])
        for topic in topics
    ]
    await (await served.client()).ask(OffsetCommitRequest(group_id=group, topics=named), 8)


@pytest.mark.parametrize("version", [0, 1, 12])
async def test_all_topics_are_those_that_may_be_seen(full, version):
    for number in range(MANY):
        full.tell_of(f"n{number}")
    seen = {f"n{number}" for number in range(MANY) if see(number)}
    rights = Allowed(on_topic(AclOperation.DESCRIBE, name) for name in seen)
    request = MetadataRequest(topics=None if version else [])
    response = await (await client_with(full, rights)).ask(request, version)
    assert {topic.name for topic in response.topics} == seen
    assert {topic.error_code for topic in response.topics} == {ErrorCode.NONE}
    assert [broker.node_id for broker in response.brokers] == [1]
    assert not rights.denied


async def test_pages_of_all_topics_hold_those_that_may_be_seen_and_no_cursor_names_another(full):
    for number in range(6):
        full.tell_of(f"n{number}", 2)
    rights = Allowed(on_topic(AclOperation.DESCRIBE, f"n{number}") for number in (1, 4))
    client = await client_with(full, rights)
    request = DescribeTopicPartitionsRequest(response_partition_limit=2)
    first = await client.ask(request, 0)
    assert [topic.name for topic in first.topics] == ["n1"]
    assert first.next_cursor == Cursor(topic_name="n4", partition_index=0)
    request.cursor = first.next_cursor
    last = await client.ask(request, 0)
    assert ([topic.name for topic in last.topics], last.next_cursor) == (["n4"], None)
    assert not rights.denied


@pytest.mark.parametrize("rights", [[], [on_group(AclOperation.DESCRIBE)], [on_cluster(AclOperation.DESCRIBE)]])
async def test_groups_are_those_that_may_be_seen_or_all(full, rights):
    """KAFKA-14236: the log is not flooded."""
    await commit(full, "other", "t")
    allowed = Allowed(rights)
    response = await (await client_with(full, allowed)).ask(ListGroupsRequest(), 5)
    names = {"g", "other"} if on_cluster(AclOperation.DESCRIBE) in rights else {right[2] for right in rights}
    assert (response.error_code, {group.group_id for group in response.groups}) == (ErrorCode.NONE, names)
    assert not allowed.denied


async def test_transactions_are_those_that_may_be_seen(full):
    other = InitProducerIdRequest(transactional_id="other", transaction_timeout_ms=1000)
    await (await full.client()).ask(other, 4)
    rights = Allowed([on_transaction(AclOperation.DESCRIBE)])
    response = await (await client_with(full, rights)).ask(ListTransactionsRequest(), 1)
    assert [state.transactional_id for state in response.transaction_states] == ["x"]
    assert not rights.denied


async def test_the_topics_of_a_transaction_are_those_that_may_be_seen(full):
    full.lead("t2")
    full.tell_of("t2")
    producer = await full.client()
    begun = await producer.ask(InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=60_000), 4)
    added = await producer.ask(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="x",
            v3_and_below_producer_id=begun.producer_id,
            v3_and_below_producer_epoch=begun.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=[0]) for name in ("t", "t2")],
        ),
        3,
    )
    assert {item.results_by_partition[0].partition_error_code for item in added.results_by_topic_v3_and_below} == {0}
    rights = Allowed([on_transaction(AclOperation.DESCRIBE), on_topic(AclOperation.DESCRIBE, "t2")])
    (state,) = (
        await (await client_with(full, rights)).ask(DescribeTransactionsRequest(transactional_ids=["x"]), 0)
    ).transaction_states
    assert [topic.topic for topic in state.topics] == ["t2"]
    assert not rights.denied


@pytest.mark.parametrize("version", [2, 7, 8, 9])
async def test_all_offsets_of_a_group_are_those_of_topics_that_may_be_seen(full, version):
    full.tell_of("t2")
    await commit(full, "g", "t", "t2")
    rights = Allowed([on_group(AclOperation.DESCRIBE), on_topic(AclOperation.DESCRIBE, "t2")])
    request = (
        OffsetFetchRequest(group_id="g", topics=None)
        if version < 8
        else OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
    )
    response = await (await client_with(full, rights)).ask(request, version)
    group = response.groups[0] if version >= 8 else response
    assert (group.error_code, [topic.name for topic in group.topics]) == (ErrorCode.NONE, ["t2"])
    assert not rights.denied
