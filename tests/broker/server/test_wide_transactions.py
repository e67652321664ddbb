"""Transactions of more partitions than one turn: written and ended in turns, in line, and no less verified."""

import asyncio

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.common.types import TopicPartition
from broker.net.turns import Turns
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from broker.protocol.messages.produce import ProduceRequest
from broker.protocol.messages.write_txn_markers import WriteTxnMarkersRequest
from tests.broker.server.test_transactions import data, markers, produce, produced, write, written

COUNT = 3 * THINGS_IN_A_TURN + 50
PARTITIONS = tuple(TopicPartition("t", index) for index in range(COUNT))


@pytest.fixture
async def client(served):
    served.lead("t", COUNT)
    served.tell_of("t", COUNT)
    return await served.member()


@pytest.fixture
def at_turn(monkeypatch):
    """What happens, once, when for the first time others have their turn; and how often they had it."""

    class AtTurn:
        taken = 0
        do = None

    mine = Turns.mine

    def counted(turns):
        AtTurn.taken += 1
        if AtTurn.do is not None:
            do, AtTurn.do = AtTurn.do, None
            do()
        return mine(turns)

    monkeypatch.setattr(Turns, "mine", counted)
    return AtTurn


def wide(sequence: int = 0) -> ProduceRequest:
    return produce(*[data(7, sequence)] * COUNT, acks=1, partitions=PARTITIONS)


async def test_a_transaction_of_many_partitions_is_written_and_ended_in_turns(served, client, at_turn):
    assert produced(await client.ask(wide(), 11)) == [ErrorCode.NONE] * COUNT
    assert at_turn.taken >= COUNT // THINGS_IN_A_TURN
    at_turn.taken = 0
    assert await write(client, markers(7, *range(COUNT))) == [[ErrorCode.NONE] * COUNT]
    assert at_turn.taken >= COUNT // THINGS_IN_A_TURN
    assert {served.replicas.get(*partition).log.log_end_offset for partition in PARTITIONS} == {2}
    assert not any(served.replicas.get(*partition).log.has_open_transaction(7, 0) for partition in PARTITIONS)


async def test_a_marker_between_two_turns_keeps_what_comes_behind_it_from_opening_the_transaction_again(
    served, client, at_turn
):
    """Of a transaction that is over nothing may be written any more, however long the request takes."""
    last = PARTITIONS[-1]
    other = await served.member()
    at_turn.do = lambda: asyncio.ensure_future(
        other.send_request(WriteTxnMarkersRequest(markers=[markers(7, last.partition, is_commit=False)]), 1)
    )
    codes = produced(await client.ask(wide(), 11))
    assert written(await other.answer(WriteTxnMarkersRequest.api, 1)) == [[ErrorCode.NONE]]
    assert set(codes[:-1]) == {ErrorCode.NONE}
    is_first = codes[-1] == ErrorCode.NONE
    assert codes[-1] in (ErrorCode.NONE, ErrorCode.INVALID_TXN_STATE)
    assert served.replicas.get(*last).log.log_end_offset == (2 if is_first else 1)
    assert not served.replicas.get(*last).log.has_open_transaction(7, 0)


async def test_the_next_request_of_the_producer_stands_in_line_behind_a_wide_one(served, client, at_turn):
    """It comes by another connection while the first is at it, and is not written before it."""
    other = await served.member()
    later = produce(data(7, 1), acks=1, partitions=(PARTITIONS[-1],))
    at_turn.do = lambda: asyncio.ensure_future(other.send_request(later, 11))
    assert produced(await client.ask(wide(), 11)) == [ErrorCode.NONE] * COUNT
    answer = await other.answer(ProduceRequest.api, 11)
    assert produced(answer) == [ErrorCode.NONE]
    assert answer.responses[0].partition_responses[0].base_offset == 1


async def test_a_transaction_of_many_partitions_is_refused_in_turns_each_by_its_own_reason(client, at_turn):
    unknown = AddPartitionsToTxnTopic(name="gone", partitions=list(range(COUNT)))
    known = AddPartitionsToTxnTopic(name="t", partitions=list(range(COUNT)))
    transaction = AddPartitionsToTxnTransaction(
        transactional_id="wide", producer_id=7, producer_epoch=0, verify_only=True, topics=[known, unknown]
    )
    answer = await client.ask(AddPartitionsToTxnRequest(transactions=[transaction]), 5)
    assert at_turn.taken >= 4 * (COUNT // THINGS_IN_A_TURN)
    codes = {
        topic.name: {item.partition_error_code for item in topic.results_by_partition}
        for topic in answer.results_by_transaction[0].topic_results
    }
    assert codes == {"t": {ErrorCode.OPERATION_NOT_ATTEMPTED}, "gone": {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}}


async def test_many_transactions_of_one_request_are_asked_about_in_turns(client, at_turn):
    transactions = [
        AddPartitionsToTxnTransaction(
            transactional_id=f"id-{number}",
            producer_id=7,
            producer_epoch=0,
            verify_only=True,
            topics=[AddPartitionsToTxnTopic(name="gone", partitions=[0])],
        )
        for number in range(COUNT)
    ]
    answer = await client.ask(AddPartitionsToTxnRequest(transactions=transactions), 5)
    assert at_turn.taken >= COUNT // THINGS_IN_A_TURN
    assert [state.transactional_id for state in answer.results_by_transaction] == [f"id-{n}" for n in range(COUNT)]
