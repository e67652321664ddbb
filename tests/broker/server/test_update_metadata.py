"""What a controller says of very many partitions is taken in turns, one controller's word after the other's."""

import asyncio
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.common.types import TopicPartition
from broker.net.turns import Turns
from broker.protocol.messages.update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.metadata_cache import LEADER_DURING_DELETE
from tests.broker.server.conftest import TOPIC_ID
from tests.eventually import eventually

COUNT = 3 * THINGS_IN_A_TURN + 50


def update_of(partitions: int, leader: int = 1, controller_epoch: int = 1) -> UpdateMetadataRequest:
    states = [UpdateMetadataPartitionState(partition_index=index, leader=leader) for index in range(partitions)]
    topic = UpdateMetadataTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=states)
    return UpdateMetadataRequest(
        controller_id=1, controller_epoch=controller_epoch, broker_epoch=-1, topic_states=[topic]
    )


def at_first_turn(monkeypatch, do) -> list[int]:
    """`do` is called when others have their turn for the first time; a number for each turn they had."""
    taken, mine = [], Turns.mine

    def counted(turns):
        taken.append(len(taken))
        if len(taken) == 1:
            do()
        return mine(turns)

    monkeypatch.setattr(Turns, "mine", counted)
    return taken


async def test_who_speaks_later_is_believed_later(served, monkeypatch):
    first, second = await served.member(), await served.member()
    sending = []
    taken = at_first_turn(
        monkeypatch, lambda: sending.append(asyncio.ensure_future(second.send_request(update_of(1, leader=2), 8)))
    )
    assert (await first.ask(update_of(COUNT), 8)).error_code == ErrorCode.NONE
    assert (await second.answer(UpdateMetadataRequest.api, 8)).error_code == ErrorCode.NONE
    assert len(taken) >= COUNT // THINGS_IN_A_TURN
    assert [served.metadata.leader_of("t", index) for index in (0, 1, COUNT - 1)] == [2, 1, 1]
    assert served.metadata.partition_count("t") == COUNT


async def test_who_is_no_longer_controller_when_its_turn_comes_is_refused(served, monkeypatch):
    member, changes, waiting = await served.member(), served.metadata.changes, []
    in_line = changes.to_the_end
    monkeypatch.setattr(changes, "to_the_end", lambda change: waiting.append(change) or in_line(change))
    async with changes:
        await member.send_request(update_of(1, leader=2), 8)
        await eventually(lambda: waiting, "the request stands in line")
        served.replicas.controller_epoch = 2
    assert (await member.answer(UpdateMetadataRequest.api, 8)).error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    assert served.metadata.leader_of("t", 0) == -1


LATER_ID = UUID(int=99)


def has_records(served) -> None:
    served.lead("t")
    served.replicas.append(TopicPartition("t", 0), memoryview(build_batch([Record(0, 1, None, b"v")])))


async def test_a_topic_that_somebody_removed_by_hand_is_served_no_more_and_may_be_made_anew(served):
    """Nobody sends StopReplica then: whoever went on would refuse the roles of the next topic of the name, and take
    its records into the old one's log, which goes with the next start.
    """
    has_records(served)
    member = await served.member()
    assert (await member.ask(update_of(1, leader=LEADER_DURING_DELETE), 8)).error_code == ErrorCode.NONE
    assert served.replicas.get("t", 0) is None
    served.lead("t", topic_id=LATER_ID)
    hosted = served.replicas.get("t", 0)
    assert (hosted.topic_id, hosted.log.log_end_offset, hosted.partition.is_leader) == (LATER_ID, 0, True)


async def test_what_is_said_late_of_an_earlier_topic_of_the_name_changes_nothing(served):
    served.lead("t", topic_id=LATER_ID)
    member = await served.member()
    assert (await member.ask(update_of(1, leader=LEADER_DURING_DELETE), 8)).error_code == ErrorCode.NONE
    assert served.replicas.get("t", 0).partition.is_leader


async def test_a_partition_that_went_elsewhere_is_unknown_once_its_topic_is_deleted_there(served):
    """Nobody sends StopReplica here then: of each topic that was ever moved away something would be kept."""
    served.lead("t")
    member = await served.member()
    assert (await member.ask(update_of(1, leader=2), 8)).error_code == ErrorCode.NONE
    served.replicas.stop_replica(TopicPartition("t", 0))
    assert _refusal(served) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (await member.ask(update_of(1, leader=LEADER_DURING_DELETE), 8)).error_code == ErrorCode.NONE
    assert _refusal(served) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _refusal(served) -> ErrorCode:
    with pytest.raises(ApiError) as refused:
        served.replicas.leader_log("t", 0)
    return refused.value.code
