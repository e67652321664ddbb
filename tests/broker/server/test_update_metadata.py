"""What a controller says of very many partitions is taken in turns, one controller's word after the other's."""

import asyncio

from broker.common.errors import ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.net.turns import Turns
from broker.protocol.messages.update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.broker.server.conftest import TOPIC_ID
from tests.eventually import eventually

COUNT = 3 * THINGS_IN_A_TURN + 50


def told(partitions: int, leader: int = 1, controller_epoch: int = 1) -> UpdateMetadataRequest:
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
        monkeypatch, lambda: sending.append(asyncio.ensure_future(second.send_request(told(1, leader=2), 8)))
    )
    assert (await first.ask(told(COUNT), 8)).error_code == ErrorCode.NONE
    assert (await second.answer(UpdateMetadataRequest.api, 8)).error_code == ErrorCode.NONE
    assert len(taken) >= COUNT // THINGS_IN_A_TURN
    assert [served.metadata.leader_of("t", index) for index in (0, 1, COUNT - 1)] == [2, 1, 1]
    assert served.metadata.partition_count("t") == COUNT


async def test_who_is_no_longer_controller_when_its_turn_comes_is_refused(served, monkeypatch):
    member, changes, waiting = await served.member(), served.metadata.changes, []
    in_line = changes.to_the_end
    monkeypatch.setattr(changes, "to_the_end", lambda change: waiting.append(change) or in_line(change))
    async with changes:
        await member.send_request(told(1, leader=2), 8)
        await eventually(lambda: waiting, "the request stands in line")
        served.replicas.controller_epoch = 2
    assert (await member.answer(UpdateMetadataRequest.api, 8)).error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    assert served.metadata.leader_of("t", 0) == -1
