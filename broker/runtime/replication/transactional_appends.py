"""Batches of transactions on their way to the log: the first of a transaction in a partition must be verified.

A batch that came too late, or whose partition was never added to its transaction, would open a transaction that nobody
ever ends. So before a leader lets a batch open one it asks the coordinator (KIP-890, part 1), or has it add the
partition for a producer that does not add it itself (part 2). While it waits for the
answer a marker may end the very transaction that is being verified; then the answer is worth nothing, which the guard
notices. A batch that could not be verified comes again: until it has, none behind it of its producer is taken.

One producer's requests stay in the order they came in: whoever comes while another verifies stands in line behind it.
A producer id is claimed, nobody has to have it: so a line, and what a verification is worth, is also of a transactional
id, to which the client has the right.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from typing import Protocol, TypeVar

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import VERIFYING_BATCH_BYTES, VERIFYING_BYTES_MAX, VERIFYING_REQUEST_BYTES
from broker.common.types import TopicPartition
from broker.log.validation import BatchValidation
from broker.protocol.primitives import Buffer
from broker.records.batch import NO_SEQUENCE, BatchHeader, parse_batch_header
from broker.records.builder import build_batch
from broker.records.control import EndMarker
from broker.records.record import Record
from broker.runtime.coordinators.transaction_verifier import Verdicts, Verify
from broker.runtime.in_turns import InOrder, once_done
from broker.runtime.replication.hosted_partition import HostedPartition, ProduceResult
from broker.runtime.replication.replica_manager import ReplicaManager

T = TypeVar("T")

#: Of so many partitions and producers the earliest batch that was refused is remembered.
_EARLIEST_MAX = 10_000

Batches = Sequence[tuple[TopicPartition, Buffer | None]]


class Append(Protocol):
    """Has the signature of `ReplicaManager.append`."""

    def __call__(
        self, topic_partition: TopicPartition, batch: bytearray | memoryview, *, is_for_all: bool, look: BatchValidation
    ) -> ProduceResult: ...


#: What is to happen with the batches; it may give its answer later, or be at it in turns with others.
Then = Callable[[Append], T | Awaitable[T] | InOrder]

#: What a coordinator answers that cannot be asked now; producers know NOT_ENOUGH_REPLICAS as a reason to try again.
_ASK_AGAIN = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
#: The first Produce version whose clients know TRANSACTION_ABORTABLE, and the first whose producers add no partitions.
_FIRST_VERSION_WITH_ABORTABLE = 11
_FIRST_VERSION_THAT_ADDS = 12


@dataclass(frozen=True, slots=True, eq=False)
class _Guard:
    """A verification under way. It counts while it is on record, and the epoch is that in which it began."""

    leader_epoch: int


class TransactionalAppends:
    """`verify` asks a transaction's coordinator; `is_enabled` is transaction.partition.verification.enable, and
    `may_add` whether the cluster has finalized `transaction.version` 2.
    """

    def __init__(
        self,
        replicas: ReplicaManager,
        verify: Verify,
        *,
        is_enabled: Callable[[], bool],
        may_add: Callable[[], bool] = lambda: False,
    ):
        self._replicas = replicas
        self._verify = verify
        self._is_enabled = is_enabled
        self._may_add = may_add
        #: By transactional and producer id, the end of a line: done when whoever is last there has appended.
        self._lines: dict[tuple[str, int], asyncio.Future[None]] = {}
        #: By partition and producer id.
        self._guards: dict[tuple[TopicPartition, int], set[_Guard]] = {}
        self._bytes_waiting = 0
        #: By partition and producer id: epoch and first sequence of the earliest batch that waits for its turn, or was
        #: refused for now. It counts where the log does not know the producer and would take any sequence as the first;
        #: elsewhere the log says itself which is the next, whatever arrives again long after.
        self._earliest: OrderedDict[tuple[TopicPartition, int], tuple[int, int]] = OrderedDict()
        replicas.on_marker.append(self._on_marker)

    def when_verified(
        self, transactional_id: str, version: int, batches: Batches, then: Then[T]
    ) -> T | Awaitable[T] | InOrder:
        """Call `then(append)`, after verification if it is needed. `version` is that of the Produce request.

        `append` does what `ReplicaManager.append` does. What was not verified it refuses with INVALID_TXN_STATE,
        TRANSACTION_ABORTABLE, INVALID_PRODUCER_EPOCH, INVALID_PRODUCER_ID_MAPPING, or NOT_ENOUGH_REPLICAS if it could
        not be verified now.
        """
        adds = version >= _FIRST_VERSION_THAT_ADDS and self._may_add()
        return self._when_verified(_TransactionalBatches(transactional_id, version, batches, adds=adds), then)

    def when_may_write(
        self,
        transactional_id: str,
        producer: tuple[int, int],
        topic_partition: TopicPartition,
        write: Callable[[], T | Awaitable[T]],
        *,
        knows_abortable: bool,
        adds: bool = False,
    ) -> T | Awaitable[T]:
        """Call `write()`, now or later, for a coordinator that writes the batch of a producer (id and epoch) itself.

        adds: the producer leaves it to us to add the partition to its transaction.

        Raises ApiError, now or later, with the codes `when_verified` refuses with, or if the partition is not led here.
        """
        producer_id, producer_epoch = producer
        version = _FIRST_VERSION_WITH_ABORTABLE if knows_abortable else 0
        stand_in = build_batch(
            [Record(0, 0, None, None)],
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            is_transactional=True,
        )
        adds = adds and self._may_add()
        sent = _TransactionalBatches(transactional_id, version, [(topic_partition, stand_in)], adds=adds)

        def check_and_write(_append: Append) -> T | Awaitable[T]:
            if self._is_checked(sent):
                self._check(sent, topic_partition)
            return write()

        reply = self._when_verified(sent, check_and_write)
        assert not isinstance(reply, InOrder)
        return reply

    def _when_verified(self, sent: "_TransactionalBatches", then: Then[T]) -> T | Awaitable[T] | InOrder:
        if not sent.partitions:
            return then(self._replicas.append)
        if len(sent.producers) > 1:
            return then(_refuse(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "a request is of one producer"))
        line = sent.transactional_id, sent.producer_id
        if line not in self._lines and not self._unverified(sent):
            return then(self._appender(sent))
        if self._bytes_waiting + sent.size_bytes > VERIFYING_BYTES_MAX:
            return then(_refuse(ErrorCode.NOT_ENOUGH_REPLICAS, "too many batches wait to be verified"))
        before = self._lines.get(line)
        place = self._lines[line] = asyncio.get_running_loop().create_future()
        self._bytes_waiting += sent.size_bytes
        return self._in_turn(sent, line, before, place, then)

    async def _in_turn(
        self,
        sent: "_TransactionalBatches",
        line: tuple[str, int],
        before: asyncio.Future[None] | None,
        place: asyncio.Future[None],
        then: Then[T],
    ) -> T:
        try:
            if before is not None:
                await asyncio.wait([before])
            await self._verify_all(sent)
            reply = await once_done(then(self._appender(sent)))
        finally:
            self._forget_guards(sent)
            self._bytes_waiting -= sent.size_bytes
            place.set_result(None)
            if self._lines.get(line) is place:
                del self._lines[line]
        result: T = await reply if isawaitable(reply) else reply
        return result

    async def _verify_all(self, sent: "_TransactionalBatches") -> None:
        unverified = self._unverified(sent)
        if not unverified:
            return
        for topic_partition, hosted in unverified.items():
            guard = sent.guards[topic_partition] = _Guard(hosted.partition.leader_epoch)
            self._guards.setdefault((topic_partition, sent.producer_id), set()).add(guard)
            self._note_earliest(sent, topic_partition)
        sent.verdicts = await self._verify(
            sent.transactional_id, sent.producer_id, sent.epoch, list(unverified), adds=sent.adds
        )

    def _note_earliest(self, sent: "_TransactionalBatches", topic_partition: TopicPartition) -> None:
        key, seen = (topic_partition, sent.producer_id), (sent.epoch, sent.partitions[topic_partition])
        known = self._earliest.get(key)
        if known is None or known[0] < seen[0] or known > seen:
            self._earliest[key] = seen
            self._earliest.move_to_end(key)
        while len(self._earliest) > _EARLIEST_MAX:
            self._earliest.popitem(last=False)

    def _forget_guards(self, sent: "_TransactionalBatches") -> None:
        for topic_partition, guard in sent.guards.items():
            key = topic_partition, sent.producer_id
            guards = self._guards.get(key, set())
            guards.discard(guard)
            if not guards:
                self._guards.pop(key, None)

    def _unverified(self, sent: "_TransactionalBatches") -> dict[TopicPartition, HostedPartition]:
        """Where the request would open a transaction. A partition led elsewhere is refused later anyway."""
        if not self._is_checked(sent):
            return {}
        hosted_by_partition = {partition: self._replicas.get(*partition) for partition in sent.partitions}
        return {
            topic_partition: hosted
            for topic_partition, hosted in hosted_by_partition.items()
            if hosted is not None and hosted.partition.is_leader and not _has_open(hosted, sent)
        }

    def _is_checked(self, sent: "_TransactionalBatches") -> bool:
        """What nobody has added must be, whether or not others are verified."""
        return sent.adds or self._is_enabled()

    def _on_marker(self, hosted: HostedPartition, producer_id: int, _marker: EndMarker) -> None:
        """What is being verified may be the transaction that has just ended."""
        key = hosted.partition.topic_partition, producer_id
        self._guards.pop(key, None)
        self._earliest.pop(key, None)

    def _appender(self, sent: "_TransactionalBatches") -> Append:
        def append(
            topic_partition: TopicPartition,
            batch: bytearray | memoryview,
            *,
            is_for_all: bool = False,
            look: BatchValidation = BatchValidation.WHOLE,
        ) -> ProduceResult:
            if topic_partition not in sent.partitions:
                return self._replicas.append(topic_partition, batch, is_for_all=is_for_all, look=look)
            if self._is_checked(sent):
                self._check(sent, topic_partition)
            result = self._replicas.append_of_transaction(topic_partition, batch, is_for_all=is_for_all, look=look)
            self._earliest.pop((topic_partition, sent.producer_id), None)
            return result

        return append

    def _check(self, sent: "_TransactionalBatches", topic_partition: TopicPartition) -> None:
        """Raise what the producer is told if the batch may not open a transaction, and none is open."""
        hosted = self._replicas.leader_log(*topic_partition)
        if _has_open(hosted, sent):
            return
        guard = sent.guards.get(topic_partition)
        verdict = sent.verdicts.get(topic_partition, ErrorCode.INVALID_TXN_STATE)
        if guard is not None and verdict is not ErrorCode.NONE:
            raise _refusal(verdict, sent.version)
        if guard is not None and guard.leader_epoch != hosted.partition.leader_epoch:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "another leader may have ended the transaction meanwhile")
        if guard is None or guard not in self._guards.get((topic_partition, sent.producer_id), ()):
            raise ApiError(ErrorCode.INVALID_TXN_STATE, "the batch is not part of an open transaction")
        if not hosted.log.knows_producer(sent.producer_id):
            self._check_first(sent, topic_partition)

    def _check_first(self, sent: "_TransactionalBatches", topic_partition: TopicPartition) -> None:
        """Raise OUT_OF_ORDER_SEQUENCE_NUMBER if it cannot be the first of a producer that the log does not know."""
        first = sent.partitions[topic_partition]
        incoming = f"producer {sent.producer_id} in partition {topic_partition}: {first} (incoming seq. number)"
        if sent.adds and first > 0:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Invalid sequence number for {incoming}. Expected sequence 0 for transactions v2 idempotent producer "
                "with no existing state.",
            )
        epoch, sequence = self._earliest.get((topic_partition, sent.producer_id), (sent.epoch, NO_SEQUENCE))
        if epoch == sent.epoch and NO_SEQUENCE < sequence < first:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Out of order sequence number for {incoming}, {sequence} (earliest seen sequence)",
            )


class _TransactionalBatches:
    """The batches of one Produce request with a transactional id."""

    def __init__(self, transactional_id: str, version: int, batches: Batches, *, adds: bool = False):
        self.transactional_id = transactional_id
        #: Whether the coordinator is to add the partitions, which the producer has not.
        self.adds = adds
        self.version = version
        #: As they stand in memory while they wait.
        self.size_bytes = VERIFYING_REQUEST_BYTES + sum(
            VERIFYING_BATCH_BYTES + len(batch) for _, batch in batches if batch is not None
        )
        #: First sequence by partition, where batches of the transaction go; what cannot be read is refused when it is
        #: appended.
        self.partitions: dict[TopicPartition, int] = {}
        #: (producer id, epoch) of each of these batches: a request may name a partition twice.
        self.producers: set[tuple[int, int]] = set()
        for topic_partition, batch in batches:
            header = _header(batch)
            if header is not None and header.is_transactional:
                first = self.partitions.get(topic_partition, header.base_sequence)
                self.partitions[topic_partition] = min(first, header.base_sequence)
                self.producers.add((header.producer_id, header.producer_epoch))
        self.guards: dict[TopicPartition, _Guard] = {}
        self.verdicts: Verdicts = {}

    @property
    def producer_id(self) -> int:
        return next(iter(self.producers))[0]

    @property
    def epoch(self) -> int:
        return next(iter(self.producers))[1]


def _header(batch: Buffer | None) -> BatchHeader | None:
    try:
        return parse_batch_header(batch or b"")
    except ApiError:
        return None


def _has_open(hosted: HostedPartition, sent: _TransactionalBatches) -> bool:
    return hosted.log.has_open_transaction(sent.producer_id, sent.epoch)


def _refuse(code: ErrorCode, reason: str) -> Append:
    def append(
        topic_partition: TopicPartition,
        batch: bytearray | memoryview,
        *,
        is_for_all: bool = False,
        look: BatchValidation = BatchValidation.WHOLE,
    ) -> ProduceResult:
        raise ApiError(code, reason)

    return append


def _refusal(verdict: ErrorCode, version: int) -> ApiError:
    """Return the error that a producer with this version of Produce handles correctly."""
    if verdict in _ASK_AGAIN:
        unsure = "Unable to verify the partition has been added to the transaction"
        reason = f"{unsure}. Underlying error: {verdict.name}"
        return ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, reason)
    if verdict is ErrorCode.PRODUCER_FENCED:
        return ApiError(ErrorCode.INVALID_PRODUCER_EPOCH)
    is_unknown = verdict is ErrorCode.TRANSACTION_ABORTABLE and version < _FIRST_VERSION_WITH_ABORTABLE
    if is_unknown or verdict is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        verdict = ErrorCode.INVALID_TXN_STATE
    return ApiError(verdict, "Partition was not added to the transaction")
