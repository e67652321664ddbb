"""Clients that write in transactions, with Kafka's protocol, and read committed records meanwhile."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from broker.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.protocol.schema import Message
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.topics.internal_topics import TRANSACTION_TOPIC
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.committed_reads import fetch_committed
from tests.simulation.coordinated import AGAIN, CoordinatorLine
from tests.simulation.features import FinalizedView, RaisesEverywhere
from tests.simulation.fencing import Fencing, IsSteadySince
from tests.simulation.history import History
from tests.simulation.holdings import Holdings
from tests.simulation.isolation import ABORTED, COMMITTED, UNKNOWN, Transacted, Transactions
from tests.simulation.late_requests import LateRequests
from tests.simulation.topics import LEDGER

_TIMEOUT_MS = (1_500, 4_000, 15_000)
_PRODUCE_AGAIN = (
    None,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.KAFKA_STORAGE_ERROR,
)
_TRIES = 12
_ABORTED_SHARE = 0.15
#: Forgets everything and begins anew, as after a crash, with its transaction open.
_CRASH_SHARE = 0.05
#: Of the responses to EndTxn that raises the epoch, which the producer does not get to see: it asks again.
_LOST_SHARE = 0.1


#: What a producer sends that adds partitions itself, and one that leaves that to the leader (KIP-890, part 2).
_PRODUCE_VERSIONS = {False: 9, True: 12}
_END_VERSIONS = {False: 3, True: 5}


class Failed(Exception):
    """The transaction cannot go on."""


@dataclass(frozen=True)
class ClusterTruth:
    """What the world knows of all brokers, for what must hold only then."""

    now_us: Callable[[], int]
    raises_everywhere: RaisesEverywhere
    is_steady_since: IsSteadySince


class TransactionalProducer:
    """One transaction after the other, each in one to three partitions of the ledger.

    upgrades: between two transactions it takes the protocol that raises epochs, once the cluster has finalized that;
    else it is a client of an earlier release.
    """

    def __init__(
        self,
        name: str,
        client: ClusterClient,
        history: History,
        transactions: Transactions,
        holdings: Holdings,
        truth: ClusterTruth,
        *,
        upgrades: bool = True,
    ):
        self._name = name
        self._client = client
        self._history = history
        self._transactions = transactions
        self._holdings = holdings
        self._truth = truth
        self._random = client.random
        self._coordinator = CoordinatorLine(client, CoordinatorType.TRANSACTION, name)
        self._timeout_ms = self._random.choice(_TIMEOUT_MS)
        self._view = FinalizedView(client) if upgrades else None
        #: Whether the transaction under way raises the epoch at its end.
        self._raises_epoch = False
        self._late = LateRequests(name, client, history)
        self._fencing = Fencing(
            name, history, self._timeout_ms, truth.now_us, truth.raises_everywhere, truth.is_steady_since
        )
        self._producer: tuple[int, int] | None = None
        self._sequences: dict[TopicPartition, int] = {}
        self._numbers: dict[TopicPartition, int] = {}
        self._positions: dict[TopicPartition, int] = {}
        self._current: Transacted | None = None
        self._began_us = 0
        self.is_stopping = False

    async def run(self) -> None:
        while not self.is_stopping:
            if self._producer is None:
                await self._initialise()
            else:
                await self._transact()
            await asyncio.sleep(self._random.uniform(0.02, 0.6))
        if self._producer is not None and self._raises_epoch:  # what comes last has no later transaction to belong to
            self._current, self._began_us = self._transactions.begin(self._name), self._truth.now_us()
            self._leave_a_batch_behind()
            await self._end(is_commit=False)
        await self._late.end()
        while not await self._initialise():  # whatever is open still is ended
            await asyncio.sleep(0.1)

    async def _initialise(self) -> bool:
        """Whether it has a producer id; whoever held the transactional id before is fenced then."""
        request = InitProducerIdRequest(transactional_id=self._name, transaction_timeout_ms=self._timeout_ms)
        try:
            response = await self._coordinator.ask(request, 4)
        except NoAnswerError:
            self._fencing.lose_initialisation()
            return False
        self._coordinator.forget_if_elsewhere(response.error_code)
        if response.error_code:
            return False
        self._producer = response.producer_id, response.producer_epoch
        self._sequences.clear()
        self._history.add(self._name, "initialised", producer=self._producer)
        self._holdings.judge_fact(
            TRANSACTION_TOPIC, ("producer", self._name, *self._producer), f"{self._name} hears InitProducerId succeed"
        )
        return True

    # -- one transaction

    async def _transact(self) -> None:
        await self._client.refresh()
        await self._choose_protocol()
        self._current, self._began_us = self._transactions.begin(self._name), self._truth.now_us()
        try:
            await self._fill()
        except Failed as failure:
            self._history.add(self._name, "gives up", transaction=str(self._current), reason=str(failure))
            before = self._producer
            await self._end(is_commit=False)
            if self._producer == before:
                self._producer = None  # what was sent and not answered must not come into the next one (KIP-360)
            return
        if self._random.random() < _CRASH_SHARE:
            self._producer = None
            self._current.outcome = ABORTED
            return
        is_commit = self._random.random() >= _ABORTED_SHARE
        if not is_commit:
            self._leave_a_batch_behind()
        await self._end(is_commit=is_commit)

    async def _choose_protocol(self) -> None:
        if self._view is not None and not self._raises_epoch:
            await self._view.refresh()
            self._raises_epoch = self._view.raises_epochs
            if self._raises_epoch:
                self._history.add(self._name, "upgrades", producer=self._producer)
        if self._raises_epoch:
            self._fencing.begin()

    def _ledger(self) -> list[TopicPartition]:
        """Raises Failed."""
        ledger = sorted(where for where in self._client.leaders if where.topic == LEDGER)
        if not ledger:
            raise Failed("no ledger is known")
        return ledger

    async def _fill(self) -> None:
        """Raises Failed."""
        ledger = self._ledger()
        chosen = self._random.sample(ledger, self._random.randint(1, len(ledger)))
        await self._cover(chosen)
        for where in chosen:
            await asyncio.sleep(self._random.choice((0, 0.05, 0.5)) * self._random.random())
            await self._write(where, [self._new_record(where) for _ in range(self._random.randint(1, 2))])
        if self._random.random() < 0.5:
            await self._read(self._random.choice(ledger))

    def _new_record(self, where: TopicPartition) -> Record:
        number = self._numbers[where] = self._numbers.get(where, -1) + 1
        return Record(0, 1_700_000_000_000, None, f"{self._name}/{where}/{number}".encode())

    async def _cover(self, partitions: list[TopicPartition]) -> None:
        """Add the partitions to the transaction, unless leaders do."""
        if self._raises_epoch:
            return
        topics = [AddPartitionsToTxnTopic(name=LEDGER, partitions=[partition.partition for partition in partitions])]
        producer_id, epoch = self._producer
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._name,
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=epoch,
            v3_and_below_topics=topics,
        )
        await self.ask_until_done(
            self._coordinator,
            request,
            3,
            lambda response: response.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code,
        )

    async def ask_until_done(
        self, line: CoordinatorLine, request: Message, version: int, code_of: Callable[[Message], int]
    ) -> None:
        for _ in range(_TRIES):
            try:
                code = code_of(await line.ask(request, version))
            except NoAnswerError:
                code = ErrorCode.COORDINATOR_NOT_AVAILABLE
            if code == ErrorCode.NONE:
                return
            line.forget_if_elsewhere(code)
            if code not in AGAIN:
                raise Failed(f"{request.api.name}: {ErrorCode(code).name}")
            await asyncio.sleep(self._random.uniform(0.02, 0.2))
        raise Failed(f"{request.api.name} does not succeed")

    async def _write(self, where: TopicPartition, records: list[Record]) -> None:
        values = [record.value.decode() for record in records]
        for value in values:
            self._transactions.write(self._current, where, value)
        self._history.add(self._name, "sends", partition=where, values=values, transaction=str(self._current))
        sequence = self._sequences.get(where, 0)
        self._sequences[where] = sequence + len(records)
        for _ in range(_TRIES):
            code, offset = await self._try_to_write(where, records, sequence)
            if code == ErrorCode.NONE:
                self._holdings.judge_record(
                    where.topic, where.partition, -1, offset + len(records) - 1, f"{self._name} hears Produce succeed"
                )
                return
            if code not in _PRODUCE_AGAIN:
                self._fencing.judge(code, f"Produce to {where}")
                raise Failed(f"Produce to {where}: {code.name}")
            await asyncio.sleep(self._random.uniform(0.02, 0.2))
            await self._client.refresh([where.topic])
        raise Failed(f"Produce to {where} does not succeed")

    async def _try_to_write(
        self, where: TopicPartition, records: list[Record], sequence: int
    ) -> tuple[ErrorCode | None, int]:
        leader = self._client.leaders.get(where)
        if leader is None or leader.broker_id < 0:
            return ErrorCode.LEADER_NOT_AVAILABLE, -1
        request = self._produce_request(where, records, sequence)
        version = _PRODUCE_VERSIONS[self._raises_epoch]
        if self._raises_epoch and self._truth.raises_everywhere():
            self._late.to_leader(where, request, version)
        try:
            response = await self._client.ask(leader.broker_id, request, version)
        except NoAnswerError:
            return None, -1
        answer = response.responses[0].partition_responses[0]
        return ErrorCode(answer.error_code), answer.base_offset

    def _leave_a_batch_behind(self) -> None:
        """Have a batch of a transaction that is about to be aborted arrive when it has ended: it belongs to none."""
        ledger = sorted(where for where in self._client.leaders if where.topic == LEDGER)
        if not ledger or not self._raises_epoch or not self._truth.raises_everywhere():
            return
        where = self._random.choice(ledger)
        record = self._new_record(where)
        self._transactions.write(self._current, where, record.value.decode())
        self._history.add(self._name, "sends", partition=where, values=[record.value.decode()], late=True)
        request = self._produce_request(where, [record], self._sequences.get(where, 0))
        self._late.to_leader(where, request, _PRODUCE_VERSIONS[True], surely=True)

    def _produce_request(self, where: TopicPartition, records: list[Record], sequence: int) -> ProduceRequest:
        producer_id, epoch = self._producer
        batch = build_batch(
            records, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, is_transactional=True
        )
        data = TopicProduceData(
            name=where.topic, partition_data=[PartitionProduceData(index=where.partition, records=batch)]
        )
        return ProduceRequest(transactional_id=self._name, acks=-1, timeout_ms=1_000, topic_data=[data])

    async def _read(self, where: TopicPartition) -> None:
        committed = await fetch_committed(self._client, where, self._positions.get(where, 0))
        if committed is None:
            return
        records, self._positions[where] = committed
        for record in records:
            value = record.value.decode()
            self._current.reads.append(value)
            self._transactions.see(self._name, value)

    # -- its end

    async def _end(self, *, is_commit: bool) -> None:
        """Asks until it knows, or cannot know any more; whatever is not a success begins anew."""
        producer_id, epoch = self._producer
        current = self._current
        # From now on somebody may see it.
        current.outcome = UNKNOWN if is_commit else ABORTED
        request = EndTxnRequest(
            transactional_id=self._name, producer_id=producer_id, producer_epoch=epoch, committed=is_commit
        )
        response = await self._ask_for_end(request, _END_VERSIONS[self._raises_epoch])
        code = response.error_code
        self._history.add(self._name, "ends", transaction=str(current), commit=is_commit, outcome=ErrorCode(code).name)
        self._fencing.judge(code, f"EndTxn of {current}")
        self._fencing.end()
        if code != ErrorCode.NONE:
            self._producer = None
            return
        ended_by = producer_id, epoch
        if self._raises_epoch and response.producer_id >= 0:  # the coordinator knew of the upgrade
            ended_by = producer_id, epoch + 1
            self._producer = response.producer_id, response.producer_epoch
            self._sequences.clear()
        if is_commit:
            current.outcome = COMMITTED
            what = f"{self._name} hears EndTxn of {current} succeed"
            self._holdings.judge_commit(*ended_by, self._began_us, what)

    async def _ask_for_end(self, request: EndTxnRequest, version: int) -> EndTxnResponse:
        if self._raises_epoch and self._truth.raises_everywhere():
            self._late.to_coordinator(request, version)
        is_lost = self._raises_epoch and self._random.random() < _LOST_SHARE
        for attempt in range(_TRIES):
            try:
                response = await self._coordinator.ask(request, version)
                if is_lost and attempt == 0:
                    raise NoAnswerError("the response is lost")
            except NoAnswerError:
                response = EndTxnResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
            self._coordinator.forget_if_elsewhere(response.error_code)
            if response.error_code not in AGAIN:
                break
            await asyncio.sleep(self._random.uniform(0.02, 0.2))
        return response
