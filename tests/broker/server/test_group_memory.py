"""A client that floods a broker with commits, over sockets: what others get, and what is told of it."""

from types import SimpleNamespace

from broker.common.errors import ErrorCode
from broker.common.limits import GROUP_MEMBERS_BYTES_MAX, TRANSACTIONAL_IDS_MAX
from broker.common.shared_budget import Owner
from broker.protocol.messages.delete_groups import DeleteGroupsRequest
from broker.protocol.messages.describe_requests import DescribeRequestsRequest
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from broker.server.coordinator_metrics import CoordinatorMetrics

PARTITIONS = 3


def commit(group: str, metadata: str = "", generation: int = -1, member: str = "") -> OffsetCommitRequest:
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata=metadata)]
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member,
        topics=[OffsetCommitRequestTopic(name="t", partitions=partitions)],
    )


async def commits(client, *args, **fields) -> ErrorCode:
    answer = await client.ask(commit(*args, **fields), 8)
    return ErrorCode(answer.topics[0].partitions[0].error_code)


async def lives(client, group: str, member: str = "") -> str:
    """Join, be assigned, commit: all that a consumer of one does."""
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id=member,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"m" * 100)],
    )
    joined = await client.ask(request, 3)
    assert joined.error_code == ErrorCode.NONE
    assignments = [SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"a" * 100)]
    sync = SyncGroupRequest(
        group_id=group, generation_id=joined.generation_id, member_id=joined.member_id, assignments=assignments
    )
    assert (await client.ask(sync, 3)).error_code == ErrorCode.NONE
    assert await commits(client, group, "x", joined.generation_id, joined.member_id) is ErrorCode.NONE
    return joined.member_id


async def test_a_flood_of_commits_leaves_consumers_alone_and_is_told_of(served):
    for _, budget in served.group_memory.budgets():
        budget.size = 200_000
    served.lead("t")
    served.lead(OFFSETS_TOPIC, PARTITIONS)
    served.tell_of("t")
    served.tell_of(OFFSETS_TOPIC, PARTITIONS)
    greedy, consumer, member = await served.client(), await served.client(), await served.member()
    there = await lives(consumer, "there")
    number = 0
    while await commits(greedy, f"made-up-{number}", "x" * 4_000) is ErrorCode.NONE:
        number += 1
        assert number < 1_000
    assert await commits(greedy, f"made-up-{number}", "x" * 4_000) is ErrorCode.POLICY_VIOLATION
    await lives(consumer, "there", there)
    await lives(consumer, "fresh")
    answer = await member.ask(DescribeRequestsRequest(), 5)
    (simple,) = (budget for budget in answer.budgets if budget.name == "simple offsets")
    assert (simple.principal, simple.host) == ("User:ANONYMOUS", "/127.0.0.1")
    assert simple.held_by_client == simple.held > 0
    assert (simple.refused, simple.size) == (2, 200_000)
    assert [budget.name for budget in answer.budgets][-2:] == ["transactional ids", "transaction partitions"]
    assert 0 <= simple.refused_ms_ago < 60_000
    (earlier,) = (
        budget for budget in (await member.ask(DescribeRequestsRequest(), 4)).budgets if budget.name == simple.name
    )
    (owner,) = earlier.owners
    assert (owner.principal, owner.host, owner.held) == (simple.principal, simple.host, simple.held)
    assert (earlier.refused, earlier.principal, simple.owners) == (2, "", []), "version 4 as it was"
    names = [f"made-up-{index}" for index in range(number)]
    deleted = await greedy.ask(DeleteGroupsRequest(groups_names=names), 2)
    assert {result.error_code for result in deleted.results} == {ErrorCode.NONE}
    assert served.group_memory.simple_offsets.held == 0
    assert await commits(greedy, "again", "x" * 4_000) is ErrorCode.NONE


async def test_what_groups_hold_is_scraped_without_the_names_of_clients(served):
    served.group_memory.members.hold(Owner("User:secret", "/10.0.0.1"), 5)
    served.group_memory.refuse(served.group_memory.simple_offsets, Owner("User:secret", "/10.0.0.1"), 0)
    served.transactions.memory.ids.hold(Owner("User:secret", "/10.0.0.1"), 7)
    coordination = SimpleNamespace(
        groups=served.groups, transactions=served.transactions, group_memory=served.group_memory, markers=()
    )
    samples = [sample for family in CoordinatorMetrics(coordination).collect() for sample in family.samples]
    gauges = {(sample.name, sample.labels.get("of")): sample.value for sample in samples}
    assert gauges["barnabas_broker_group_memory_bytes", "members"] == 5
    assert gauges["barnabas_broker_group_memory_max_bytes", "members"] == GROUP_MEMBERS_BYTES_MAX
    assert gauges["barnabas_broker_group_memory_refusals_total", "simple offsets"] == 1
    assert gauges["barnabas_broker_transactions_held", "transactional ids"] == 7
    assert gauges["barnabas_broker_transactions_held_max", "transactional ids"] == TRANSACTIONAL_IDS_MAX
    assert gauges["barnabas_broker_transactions_held_refusals_total", "transactional ids"] == 0
    assert "secret" not in str(samples)
