"""Asks transaction coordinators whether a partition belongs to a transaction, or to add it (KIP-890, both parts).

The question is AddPartitionsToTxn, with verify_only where the producer adds its partitions itself. What is to be asked
of one coordinator while it still answers goes into its next request: one connection to each, one request at a time.
What this broker coordinates itself is asked without a socket.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from broker.common.errors import ErrorCode, ProtocolError, error_code_of
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.coordinator.partitions import partition_for
from broker.net.dialer import Dialer, PeerUnreachable
from broker.net.outbound import RelocatableConnection
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from broker.runtime.coordinators.request_sizes import how_many_fit, size_of
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.topics.internal_topics import TRANSACTION_TOPIC

#: The first version that can tell of a partition that is in no transaction (TRANSACTION_ABORTABLE).
_VERSION = 5
_CONNECT_TIMEOUT_MS = 5_000
_REQUEST_TIMEOUT_MS = 10_000

_log = logger(__name__)

Verdicts = dict[TopicPartition, ErrorCode]


class Verify(Protocol):
    """Returns NONE for each partition that the open transaction covers; with `adds` it covers them from then on."""

    def __call__(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Sequence[TopicPartition],
        *,
        adds: bool = False,
    ) -> Awaitable[Verdicts]: ...


#: Where a broker is reached, None if that is not known.
AddressOf = Callable[[int], tuple[str, int] | None]


class TransactionVerifier:
    """`verify_here` answers for the transactional ids this broker coordinates."""

    def __init__(
        self,
        metadata: MetadataCache,
        broker_id: int,
        address_of: AddressOf,
        dialer: Dialer,
        verify_here: Verify,
    ):
        self._metadata = metadata
        self._broker_id = broker_id
        self._address_of = address_of
        self._dialer = dialer
        self._verify_here = verify_here
        self._coordinators: dict[int, _Coordinator] = {}

    async def verify(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Sequence[TopicPartition],
        *,
        adds: bool = False,
    ) -> Verdicts:
        """Return the coordinator's verdict on each of `partitions`.

        Without an answer of its own: COORDINATOR_NOT_AVAILABLE (nobody knows who it is), NETWORK_EXCEPTION.
        """
        count = self._metadata.partition_count(TRANSACTION_TOPIC)
        leader = self._metadata.leader_of(TRANSACTION_TOPIC, partition_for(transactional_id, count)) if count else -1
        if leader == self._broker_id:
            return await self._verify_here(transactional_id, producer_id, epoch, partitions, adds=adds)
        if leader < 0:
            return dict.fromkeys(partitions, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        coordinator = self._coordinators.get(leader)
        if coordinator is None:
            coordinator = _Coordinator(self._broker_id, leader, self._address_of, self._dialer)
            self._coordinators[leader] = coordinator
        return await coordinator.ask(VerificationRequest(transactional_id, producer_id, epoch, tuple(partitions), adds))

    def close(self) -> None:
        for coordinator in self._coordinators.values():
            coordinator.close()


class VerificationRequest(NamedTuple):
    transactional_id: str
    producer_id: int
    epoch: int
    partitions: tuple[TopicPartition, ...]
    adds: bool = False

    def all_of(self, code: ErrorCode) -> Verdicts:
        return dict.fromkeys(self.partitions, code)


class _Coordinator:
    """The line to one broker, and what waits for it."""

    def __init__(self, own_id: int, broker_id: int, address_of: AddressOf, dialer: Dialer):
        self._broker_id = broker_id
        name = f"broker-{own_id}-transactions"
        self._connection = RelocatableConnection(dialer, broker_id, partial(address_of, broker_id), name)
        self._waiting: list[tuple[VerificationRequest, asyncio.Future[Verdicts]]] = []
        self._asking: asyncio.Task[None] | None = None

    def ask(self, question: VerificationRequest) -> asyncio.Future[Verdicts]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Verdicts] = loop.create_future()
        self._waiting.append((question, answer))
        if self._asking is None:
            self._asking = loop.create_task(self._ask_all())
        return answer

    def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
        self._connection.close()

    async def _ask_all(self) -> None:
        try:
            while self._waiting:
                waiting = self._take()
                verdicts = await self._ask([question for question, _ in waiting])
                for (_, answer), verdict in zip(waiting, verdicts, strict=True):
                    if not answer.done():
                        answer.set_result(verdict)
        finally:
            self._asking = None

    def _take(self) -> list[tuple[VerificationRequest, asyncio.Future[Verdicts]]]:
        """Take the waiting verifications that fit one request, the first of each transactional id: a request names it
        once.
        """
        firsts: list[tuple[VerificationRequest, asyncio.Future[Verdicts]]] = []
        others: list[tuple[VerificationRequest, asyncio.Future[Verdicts]]] = []
        named: set[str] = set()
        for pair in self._waiting:
            transactional_id = pair[0].transactional_id
            (others if transactional_id in named else firsts).append(pair)
            named.add(transactional_id)
        count = how_many_fit(size_of(question.partitions, question.transactional_id) for question, _ in firsts)
        self._waiting = firsts[count:] + others
        return firsts[:count]

    async def _ask(self, questions: list[VerificationRequest]) -> list[Verdicts]:
        try:
            request = AddPartitionsToTxnRequest(transactions=[transaction_of(question) for question in questions])
            response = await self._connection.request(request, _VERSION, _CONNECT_TIMEOUT_MS, _REQUEST_TIMEOUT_MS)
            return [verdicts_of(question, response) for question in questions]
        except (PeerUnreachable, ProtocolError) as error:
            _log.info("transaction coordinator does not answer", broker=self._broker_id, reason=str(error))
        except Exception:  # an answer with codes of a later version, say: producers wait for a verdict without end
            _log.exception("transaction coordinator unreachable", broker=self._broker_id)
        return [question.all_of(ErrorCode.NETWORK_EXCEPTION) for question in questions]


def transaction_of(question: VerificationRequest) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=question.transactional_id,
        producer_id=question.producer_id,
        producer_epoch=question.epoch,
        verify_only=not question.adds,
        topics=_by_topic(question.partitions),
    )


def _by_topic(partitions: Iterable[TopicPartition]) -> list[AddPartitionsToTxnTopic]:
    topics: dict[str, list[int]] = {}
    for topic, index in partitions:
        topics.setdefault(topic, []).append(index)
    return [AddPartitionsToTxnTopic(name=name, partitions=indexes) for name, indexes in topics.items()]


def verdicts_of(question: VerificationRequest, response: AddPartitionsToTxnResponse) -> Verdicts:
    """Return the verdicts; partitions missing in the response are not verified."""
    if response.error_code:
        return question.all_of(error_code_of(response.error_code))
    codes = {
        TopicPartition(topic.name, result.partition_index): error_code_of(result.partition_error_code)
        for transaction in response.results_by_transaction
        if transaction.transactional_id == question.transactional_id
        for topic in transaction.topic_results
        for result in topic.results_by_partition
    }
    return question.all_of(ErrorCode.INVALID_TXN_STATE) | {
        partition: codes[partition] for partition in question.partitions if partition in codes
    }
