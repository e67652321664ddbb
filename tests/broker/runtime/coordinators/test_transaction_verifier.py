"""Which coordinator is asked, what is asked together, and what is said of one that does not answer."""

import asyncio

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.partitions import partition_for
from broker.protocol.codec import decode, encode
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import decode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from broker.protocol.messages.update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from broker.runtime.coordinators.transaction_verifier import TransactionVerifier
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.topics.internal_topics import TRANSACTION_TOPIC
from tests.broker.runtime.controllers_word import tell_all
from tests.eventually import eventually
from tests.members import Doorkeeper, dialer
from tests.response_headers import encode_response_header

OWN, OTHER = 1, 2
P0, P1 = TopicPartition("t", 0), TopicPartition("u", 3)


class Coordinator:
    """Another broker: refuses what `verdicts` says, once `may_answer` is set."""

    def __init__(self):
        self.requests: list[AddPartitionsToTxnRequest] = []
        self.verdicts: dict[tuple[str, TopicPartition], ErrorCode] = {}
        self.error_code = ErrorCode.NONE
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.address: tuple[str, int] | None = None
        self._writers: list[asyncio.StreamWriter] = []

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = self._server.sockets[0].getsockname()[:2]

    async def stop(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    async def _serve(self, reader, writer) -> None:
        self._writers.append(writer)
        doorkeeper = Doorkeeper()
        try:
            while size := await reader.read(SIZE_BYTES):
                frame = memoryview(await reader.readexactly(int.from_bytes(size)))
                header, at = decode_request_header(frame)
                request = decode(MESSAGES[header.api_key].request, frame[at:], header.api_version)
                response = doorkeeper.answer(request) or await self._answer_when_it_may(request)
                head = encode_response_header(header.api_key, header.api_version, header.correlation_id)
                body = encode(response, header.api_version)
                writer.write((len(head) + len(body)).to_bytes(4) + head + body)
        finally:
            writer.close()

    async def _answer_when_it_may(self, request) -> AddPartitionsToTxnResponse:
        self.requests.append(request)
        await self.may_answer.wait()
        return self._answer(request)

    def _answer(self, request) -> AddPartitionsToTxnResponse:
        results = [
            AddPartitionsToTxnResult(
                transactional_id=transaction.transactional_id,
                topic_results=[
                    AddPartitionsToTxnTopicResult(
                        name=topic.name,
                        results_by_partition=[
                            AddPartitionsToTxnPartitionResult(
                                partition_index=index,
                                partition_error_code=self.verdicts.get(
                                    (transaction.transactional_id, TopicPartition(topic.name, index)), ErrorCode.NONE
                                ),
                            )
                            for index in topic.partitions
                        ],
                    )
                    for topic in transaction.topics
                ],
            )
            for transaction in request.transactions
        ]
        return AddPartitionsToTxnResponse(error_code=self.error_code, results_by_transaction=results)


@pytest.fixture
async def coordinator():
    coordinator = Coordinator()
    await coordinator.start()
    yield coordinator
    await coordinator.stop()


@pytest.fixture
def metadata():
    return MetadataCache()


@pytest.fixture
async def verifier(coordinator, metadata):
    async def verify_here(transactional_id, producer_id, epoch, partitions, *, adds=False):
        return dict.fromkeys(partitions, ErrorCode.INVALID_TXN_STATE)

    lead(metadata, OTHER)
    verifier = TransactionVerifier(metadata, OWN, lambda broker_id: coordinator.address, dialer(), verify_here)
    yield verifier
    verifier.close()


def lead(metadata, *leaders: int) -> None:
    """One partition of the transactions' topic for each."""
    states = [UpdateMetadataPartitionState(partition_index=i, leader=leader) for i, leader in enumerate(leaders)]
    tell_all(
        metadata,
        UpdateMetadataRequest(
            topic_states=[UpdateMetadataTopicState(topic_name=TRANSACTION_TOPIC, partition_states=states)]
        ),
    )


async def test_another_broker_is_asked_to_verify_and_not_to_add(verifier, coordinator):
    coordinator.verdicts["a", P1] = ErrorCode.TRANSACTION_ABORTABLE
    verdicts = await verifier.verify("a", 7, 3, [P0, P1])
    assert verdicts == {P0: ErrorCode.NONE, P1: ErrorCode.TRANSACTION_ABORTABLE}
    (transaction,) = coordinator.requests[0].transactions
    assert (
        transaction.transactional_id,
        transaction.producer_id,
        transaction.producer_epoch,
        transaction.verify_only,
    ) == ("a", 7, 3, True)


async def test_what_this_broker_coordinates_is_asked_without_a_socket(verifier, coordinator, metadata):
    leaders = [OTHER, OTHER, OTHER]
    leaders[partition_for("a", 3)] = OWN
    lead(metadata, *leaders)
    assert await verifier.verify("a", 7, 0, [P0]) == {P0: ErrorCode.INVALID_TXN_STATE}
    assert coordinator.requests == []


async def test_what_comes_while_the_coordinator_answers_is_asked_together(verifier, coordinator):
    """But an id that comes twice goes into two requests."""
    coordinator.may_answer.clear()
    ids = ["a", "b", "c", "b"]
    answers = [asyncio.ensure_future(verifier.verify(id_, 7, 0, [P0])) for id_ in ids[:1]]
    await eventually(lambda: coordinator.requests, "the first question came")
    answers += [asyncio.ensure_future(verifier.verify(id_, 7, 0, [P0])) for id_ in ids[1:]]
    coordinator.verdicts["b", P0] = ErrorCode.PRODUCER_FENCED
    coordinator.may_answer.set()
    verdicts = [answer[P0] for answer in await asyncio.gather(*answers)]
    fenced = ErrorCode.PRODUCER_FENCED
    assert verdicts == [ErrorCode.NONE, fenced, ErrorCode.NONE, fenced]
    assert [
        [transaction.transactional_id for transaction in request.transactions] for request in coordinator.requests
    ] == [
        ["a"],
        ["b", "c"],
        ["b"],
    ]


async def test_questions_for_one_coordinator_go_into_requests_that_it_takes(verifier, coordinator):
    """Transactional ids may have 32 KB each. What is asked of one of them stays in its order."""
    coordinator.may_answer.clear()
    wanted = [(f"{number:02}" + "x" * 32_000, 0) for number in range(50)]
    wanted.append((wanted[-1][0], 1))
    answers = [asyncio.ensure_future(verifier.verify(item, 7, epoch, [P0])) for item, epoch in wanted]
    coordinator.may_answer.set()
    assert await asyncio.gather(*answers) == [{P0: ErrorCode.NONE}] * len(wanted)
    sizes = [len(encode(request, 5)) for request in coordinator.requests]
    assert 900_000 < max(sizes) <= 1024 * 1024
    transactions = [transaction for request in coordinator.requests for transaction in request.transactions]
    assert [(producer.transactional_id, producer.producer_epoch) for producer in transactions] == wanted


async def test_error_of_the_whole_answer_is_that_of_each_partition(verifier, coordinator):
    coordinator.error_code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert await verifier.verify("a", 7, 0, [P0]) == {P0: ErrorCode.CLUSTER_AUTHORIZATION_FAILED}


async def test_coordinator_that_cannot_be_reached_is_asked_again_the_next_time(verifier, coordinator):
    await coordinator.stop()
    assert await verifier.verify("a", 7, 0, [P0]) == {P0: ErrorCode.NETWORK_EXCEPTION}
    await coordinator.start()
    assert await verifier.verify("a", 7, 0, [P0]) == {P0: ErrorCode.NONE}
    coordinator.address = None
    assert await verifier.verify("a", 7, 0, [P0]) == {P0: ErrorCode.NETWORK_EXCEPTION}


@pytest.mark.parametrize("leaders", [(), (-1,)])
async def test_without_a_coordinator_nothing_is_verified(verifier, metadata, leaders):
    metadata.topics.clear()
    lead(metadata, *leaders)
    assert await verifier.verify("a", 7, 0, [P0]) == {P0: ErrorCode.COORDINATOR_NOT_AVAILABLE}
