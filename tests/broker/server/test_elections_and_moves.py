"""What clients ask of the controller over a socket: ElectLeaders and the reassignment of partitions."""

import asyncio
from dataclasses import replace

from broker.common.errors import ErrorCode
from broker.common.limits import PARTITIONS_ASKED_AT_ONCE
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller.events import Election, ElectionAsked, ReassignmentsAsked
from broker.controller.verdict import DONE, PartitionVerdict
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from broker.protocol.messages.elect_leaders import ElectionType, ElectLeadersRequest, TopicPartitions
from broker.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
NOT_NEEDED = PartitionVerdict(ErrorCode.ELECTION_NOT_NEEDED, "led already")


def _election(partitions=(0, 1), kind=ElectionType.PREFERRED, timeout_ms=2000) -> ElectLeadersRequest:
    elections = None if partitions is None else [TopicPartitions(topic="t", partitions=list(partitions))]
    return ElectLeadersRequest(election_type=kind, topic_partitions=elections, timeout_ms=timeout_ms)


def _codes(response) -> dict[TopicPartition, ErrorCode]:
    return {
        TopicPartition(topic.topic, one.partition_id): ErrorCode(one.error_code)
        for topic in response.replica_election_results
        for one in topic.partition_result
    }


async def test_election_is_answered_for_each_partition(served):
    served.tell_of("t", 2)
    served.controller.verdicts = {T0: DONE, T1: PartitionVerdict(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "2 is away")}
    response = await (await served.client()).ask(_election(), 2)
    assert served.controller.events == [ElectionAsked(1, Election.PREFERRED, frozenset({T0, T1}))]
    assert _codes(response) == {T0: ErrorCode.NONE, T1: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    assert response.replica_election_results[0].partition_result[1].error_message == "2 is away"


async def test_election_of_all_partitions_leaves_out_those_that_need_none(served):
    served.tell_of("t", 2)
    served.controller.verdicts = {T0: DONE, T1: NOT_NEEDED}
    response = await (await served.client()).ask(_election(None), 1)
    assert served.controller.events == [ElectionAsked(1, Election.PREFERRED, frozenset({T0, T1}))]
    assert _codes(response) == {T0: ErrorCode.NONE}


async def test_a_topic_of_which_no_partition_is_named_is_answered(served):
    served.tell_of("t", 2)
    response = await (await served.client()).ask(_election(()), 2)
    assert [(topic.topic, topic.partition_result) for topic in response.replica_election_results] == [("t", [])]


async def test_an_election_is_answered_though_metadata_names_no_replica_of_a_partition(served):
    """It closed the connection; now it waits for the leader, as for any partition."""
    served.tell_of("t", 1)
    (state,) = served.metadata.topics["t"].partitions.values()
    served.metadata.topics["t"].partitions[0] = replace(state, replicas=(), isr=())
    served.controller.verdicts = {T0: DONE}
    response = await (await served.client()).ask(_election((0,), timeout_ms=50), 2)
    assert _codes(response) == {T0: ErrorCode.REQUEST_TIMED_OUT}


async def test_the_controller_is_asked_about_very_many_partitions_in_parts(served):
    count = PARTITIONS_ASKED_AT_ONCE + 5
    served.tell_of("t", count)
    client = await served.client()
    await client.ask(_election(None), 1)
    targets = [ReassignablePartition(partition_index=index, replicas=[1]) for index in range(count)]
    topics = [ReassignableTopic(name="t", partitions=targets)]
    await client.ask(AlterPartitionReassignmentsRequest(topics=topics, timeout_ms=1_000), 0)
    *elections, first, second = served.controller.events
    assert [len(election.partitions) for election in elections] == [PARTITIONS_ASKED_AT_ONCE, 5]
    assert [len(election.targets) for election in (first, second)] == [PARTITIONS_ASKED_AT_ONCE, 5]
    assert first.targets.keys() | second.targets.keys() == {TopicPartition("t", index) for index in range(count)}


async def test_election_named_by_its_partitions_shows_that_none_was_needed(served):
    served.controller.verdicts = {T0: NOT_NEEDED}
    response = await (await served.client()).ask(_election((0,), ElectionType.UNCLEAN), 2)
    assert served.controller.events == [ElectionAsked(1, Election.UNCLEAN, frozenset({T0}))]
    assert _codes(response) == {T0: ErrorCode.ELECTION_NOT_NEEDED}


async def test_election_is_answered_when_the_new_leader_is_known(served):
    served.tell_of("t", leader=2)
    served.controller.verdicts = {T0: DONE}
    answer = asyncio.ensure_future((await served.client()).ask(_election((0,)), 2))
    while not served.controller.events:
        await asyncio.sleep(0)
    assert not answer.done()
    served.tell_of("t", leader=1)
    assert _codes(await answer) == {T0: ErrorCode.NONE}


async def test_election_whose_leader_nobody_hears_of_times_out(served):
    served.tell_of("t", leader=2)
    served.controller.verdicts = {T0: DONE}
    response = await (await served.client()).ask(_election((0,), timeout_ms=10), 2)
    assert _codes(response) == {T0: ErrorCode.REQUEST_TIMED_OUT}


async def test_other_brokers_send_elections_to_the_controller(served):
    served.metadata.controller_id = 2
    response = await (await served.client()).ask(_election(), 2)
    assert response.error_code == ErrorCode.NOT_CONTROLLER
    response = await (await served.client()).ask(_election(), 0)
    assert set(_codes(response).values()) == {ErrorCode.NOT_CONTROLLER}


async def test_unknown_type_of_election_is_refused(served):
    response = await (await served.client()).ask(_election(kind=7), 2)
    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert served.controller.events == []


def _reassignment(*targets) -> AlterPartitionReassignmentsRequest:
    partitions = [ReassignablePartition(partition_index=index, replicas=replicas) for index, replicas in targets]
    return AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name="t", partitions=partitions)])


async def test_moves_and_their_cancelling_reach_the_controller(served):
    served.controller.verdicts = {
        T0: DONE,
        T1: PartitionVerdict(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "t-1 is at rest"),
    }
    response = await (await served.client()).ask(_reassignment((0, [2, 3]), (1, None)), 0)
    assert served.controller.events == [ReassignmentsAsked(1, {T0: (2, 3), T1: None})]
    first, second = response.responses[0].partitions
    assert (first.error_code, second.error_code) == (ErrorCode.NONE, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    assert second.error_message == "t-1 is at rest"


async def test_partition_named_twice_is_not_moved(served):
    served.controller.verdicts = {T1: DONE}
    response = await (await served.client()).ask(_reassignment((0, [2]), (1, [3]), (0, [4])), 0)
    assert served.controller.events == [ReassignmentsAsked(1, {T1: (3,)})]
    codes = {one.partition_index: one.error_code for one in response.responses[0].partitions}
    assert codes == {0: ErrorCode.INVALID_REQUEST, 1: ErrorCode.NONE}


async def test_other_brokers_send_moves_to_the_controller(served):
    served.metadata.controller_id = 2
    client = await served.client()
    assert (await client.ask(_reassignment((0, [2])), 0)).error_code == ErrorCode.NOT_CONTROLLER
    assert (await client.ask(ListPartitionReassignmentsRequest(topics=None), 0)).error_code == ErrorCode.NOT_CONTROLLER


async def test_moves_in_progress_are_listed_as_asked(served):
    served.controller.moves = {
        T0: ReplicaAssignment((3, 1), adding=(3,), removing=(1,)),
        T1: ReplicaAssignment((1, 2), adding=(2,)),
    }
    client = await served.client()
    everything = await client.ask(ListPartitionReassignmentsRequest(topics=None), 0)
    assert [one.partition_index for one in everything.topics[0].partitions] == [0, 1]
    topics = [ListPartitionReassignmentsTopics(name="t", partition_indexes=[0, 7])]
    (move,) = (await client.ask(ListPartitionReassignmentsRequest(topics=topics), 0)).topics[0].partitions
    assert (move.replicas, move.adding_replicas, move.removing_replicas) == ([3, 1], [3], [1])
