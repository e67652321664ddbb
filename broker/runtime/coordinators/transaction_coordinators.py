"""The coordinators of transactions, one for each partition of `__transaction_state`, and the markers they send."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.coordinator.partitions import partition_for
from broker.coordinator.transaction.config import TransactionConfig
from broker.coordinator.transaction.coordinator import TransactionCoordinator
from broker.coordinator.transaction.memory import TransactionMemory
from broker.coordinator.transaction.outcome import MarkersToWrite, TransactionOutcome
from broker.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from broker.protocol.schema import Message
from broker.runtime.coordinators.coordinator_runtime import CoordinatorRuntime
from broker.runtime.coordinators.marker_lines import Ending
from broker.runtime.coordinators.marker_sender import MarkerSender
from broker.runtime.coordinators.shard import Shard
from broker.runtime.coordinators.transaction_verifier import Verdicts, VerificationRequest, transaction_of, verdicts_of
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.topics.internal_topics import TRANSACTION_TOPIC

#: How long a request waits for the markers of the transaction before it. Leaders that take longer are in trouble, and
#: the producer may as well wait by itself.
_ENDED_WITHIN_S = 0.2

#: A transaction whose markers are written is recorded as complete with the next request, or after this.
#: Followers then hear of both at once: a producer that begins its next transaction costs a round of replication less.
_COMPLETED_WITHIN_S = 0.005

#: Pause before markers are handed over again after that failed.
_SENT_AGAIN_S = 1.0

_log = logger(__name__)

_Shard = Shard[TransactionCoordinator, TransactionOutcome]
Ask = Callable[[TransactionCoordinator, int, int], TransactionOutcome]


class TransactionCoordinators(CoordinatorRuntime[TransactionCoordinator, TransactionOutcome]):
    def __init__(
        self,
        replicas: ReplicaManager,
        metadata: MetadataCache,
        config: TransactionConfig,
        sender: MarkerSender,
        clock: Clock,
    ):
        self.memory = TransactionMemory()

        def new_coordinator() -> TransactionCoordinator:
            return TransactionCoordinator(config, clock.now_ms, self.memory)

        super().__init__(TRANSACTION_TOPIC, new_coordinator, replicas, clock, config.request_timeout_ms)
        self._metadata = metadata
        self._sender = sender
        sender.on_written = self._on_written
        self.on_committed.append(self._send)
        self.on_resigned.append(sender.forget)
        #: Transactions whose partitions have their markers, by partition of ours; not recorded as complete yet.
        self._completed: dict[int, list[MarkersToWrite]] = {}

    def stop(self) -> None:
        super().stop()
        self._sender.close()

    async def wait_until_ended(self, transactional_id: str) -> None:
        """Wait until the transaction that is being ended is over, or too long; return at once without one."""
        ended = self._sender.ended(transactional_id)
        if ended is None:
            return
        timer = asyncio.get_running_loop().call_later(_ENDED_WITHIN_S, _give_up, ended)
        try:
            await ended
        finally:
            timer.cancel()

    async def verify(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Sequence[TopicPartition],
        *,
        adds: bool = False,
    ) -> Verdicts:
        """Verify a leader's request before a batch opens a transaction, or add what the batch goes to (KIP-890).

        What is added to a transaction whose last one is being ended waits until it is over.
        """
        question = VerificationRequest(transactional_id, producer_id, epoch, tuple(partitions), adds)
        verdicts = await self._verify(question)
        if adds and ErrorCode.CONCURRENT_TRANSACTIONS in verdicts.values():
            await self.wait_until_ended(transactional_id)
            verdicts = await self._verify(question)
        return verdicts

    async def _verify(self, question: VerificationRequest) -> Verdicts:
        request = AddPartitionsToTxnRequest(transactions=[transaction_of(question)])
        try:
            reply = self.submit(
                self.partition_of(question.transactional_id),
                lambda coordinator, token, now_ms: coordinator.add_partitions_to_txn(token, request, now_ms),
            )
        except ApiError as error:
            return question.all_of(error.code)
        response = reply if isinstance(reply, Message) else await reply
        assert isinstance(response, AddPartitionsToTxnResponse)
        return verdicts_of(question, response)

    def partition_of(self, transactional_id: str) -> int:
        """Return the partition whose leader coordinates the id. Raises NOT_COORDINATOR while there is none."""
        count = self._metadata.partition_count(TRANSACTION_TOPIC)
        if not count:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        return partition_for(transactional_id, count)

    def _send(self, shard: _Shard, outcome: TransactionOutcome) -> None:
        for markers in outcome.markers:
            self._send_one(shard, markers)

    def _send_one(self, shard: _Shard, markers: MarkersToWrite) -> None:
        """Send a shard's markers while the high watermark moves; an error must neither stop other work there nor be
        forgotten.
        """
        if self._shards.get(shard.partition) is not shard:
            return
        try:
            self._sender.send(shard, markers)
        except Exception:
            _log.exception("markers not handed over", transactional_id=markers.transactional_id)
            asyncio.get_running_loop().call_later(_SENT_AGAIN_S, self._send_one, shard, markers)

    def submit(self, partition: int, ask: Ask) -> Message | Awaitable[Message]:
        self._complete(partition)
        return super().submit(partition, ask)

    def _on_written(self, ending: Ending) -> None:
        partition = ending.shard.partition
        if partition not in self._completed:
            asyncio.get_running_loop().call_later(_COMPLETED_WITHIN_S, self._complete, partition)
        self._completed.setdefault(partition, []).append(ending.markers)

    def _complete(self, partition: int) -> None:
        """Complete the transaction without waiting for the commit: a successor finds the decision, and sends the
        markers again.
        """
        for markers in self._completed.pop(partition, ()):
            try:
                self.tell(partition, partial(_note_written, markers))
            except ApiError:  # resigned, or being loaded
                pass
            except Exception:  # the coordinator tries again by itself; the others of this partition go on
                _log.exception("transaction not completed", transactional_id=markers.transactional_id)


def _note_written(markers: MarkersToWrite, coordinator: TransactionCoordinator, now_ms: int) -> TransactionOutcome:
    return coordinator.markers_written(markers, now_ms)


def _give_up(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)
