"""Producers and transactions of a real cluster, asked over the wire: the admin client does not know the questions.

A partition's leader says who writes to it and since when a transaction is open, the coordinators say which transactions
they will end (KIP-664).
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from confluent_kafka import IsolationLevel
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import OffsetSpec

from broker.client.cluster import ClusterConnections
from broker.client.coordinators import Coordinators
from broker.client.errors import BrokerUnreachable, LoginRefused
from broker.client.leaders import Address, Leaders
from broker.client.transactions import describe_transaction
from broker.common.errors import ApiError, ErrorCode, ProtocolError, error_code_of
from broker.common.types import TopicPartition
from broker.protocol.messages.describe_producers import DescribeProducersRequest, ProducerState, TopicRequest
from broker.protocol.messages.describe_transactions import TransactionState
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from broker.security.membership import ClusterMembership
from console.kit.gateway.connection.admin_results import wait_for
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.cluster_session import cluster_session
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, refusal
from console.kit.gateway.groups.interface import TopicPartition as Place
from console.kit.gateway.producers.interface import ProducersView, ProducerView, TransactionsView, TransactionView

PARTITIONS_PER_REQUEST = 500
#: A marker is answered when it is committed, for which the broker waits for half a minute.
MARKER_TIMEOUT_SECONDS = 31.0
#: Transactions that are described one by one.
TRANSACTIONS_MAX = 200
TRANSACTIONS_TOPIC = "__transaction_state"
_NOT_SERVED = "These brokers do not report producers: Kafka does from 2.8 on, transactions from 3.0 on."


class KafkaProducers:
    """Threads may share it."""

    def __init__(self, client: ClusterClient, membership: ConsoleMembership, timeout_seconds: float):
        self._client = client
        self._membership = membership
        self._timeout = timeout_seconds

    def of_topic(self, topic: str, partitions: Collection[int]) -> ProducersView:
        views: list[ProducerView] = []
        silent: dict[int, str] = {}
        with cluster_session(self._client, self._timeout, _NOT_SERVED) as cluster:
            leaders = Leaders(cluster)
            leaders.partitions(topic)
            for address, led in _by_leader(leaders, topic, sorted(partitions), silent).items():
                for numbers in _batches(led):
                    try:
                        views += _producers_of(cluster, address, topic, numbers, silent)
                    except (BrokerUnreachable, ProtocolError):
                        cluster.forget(*address)
                        silent |= dict.fromkeys(numbers, "its leader did not answer in time")
        return ProducersView(tuple(sorted(views, key=lambda view: (view.partition, view.producer_id))), silent)

    def transactions(self, producer_ids: Collection[int]) -> TransactionsView:
        if not producer_ids:
            return TransactionsView(())
        try:
            with cluster_session(self._client, self._timeout, _NOT_SERVED) as cluster:
                return _transactions(cluster, sorted(producer_ids), self._timeout)
        except GatewayError as error:
            return TransactionsView((), str(error))

    def stable_offsets(self, places: Collection[Place]) -> dict[Place, int]:
        if not places:
            return {}
        wanted = {KafkaPartition(topic, partition): OffsetSpec.latest() for topic, partition in places}
        level = IsolationLevel.READ_COMMITTED
        futures = self._client.admin().list_offsets(wanted, isolation_level=level, request_timeout=self._timeout)
        offsets: dict[Place, int] = {}
        unreachable: ClusterUnreachableError | None = None
        for partition, future in futures.items():
            try:
                offsets[partition.topic, partition.partition] = wait_for(future, self._timeout).offset
            except ClusterUnreachableError as error:
                unreachable = error
            except GatewayError:
                continue
        if unreachable is not None and not offsets:
            raise unreachable
        return offsets

    def abort(self, topic: str, producer: ProducerView) -> None:
        place = TopicPartition(topic, producer.partition)
        request = WriteTxnMarkersRequest(markers=[_marker(topic, producer)])
        member, why_none = self._member()
        try:
            with cluster_session(self._client, self._timeout, _NOT_SERVED) as cluster:
                connection = Leaders(cluster).connection(place)
                answer = connection.ask(request, timeout_s=MARKER_TIMEOUT_SECONDS, membership=member)
        except GatewayError as error:
            if isinstance(error.__cause__, LoginRefused):
                self._membership.forget()
            raise
        code = answer.markers[0].topics[0].partitions[0].error_code
        if code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            why = why_none or "It needs ALTER on the cluster."
            raise refusal(code, f"The brokers do not let the console end a transaction. {why}")
        if code:
            raise refusal(code)

    def _member(self) -> tuple[ClusterMembership | None, str]:
        """Return our membership; without one ACLs decide, as in Apache Kafka; and why there is none, where there should
        be.
        """
        try:
            return self._membership(), ""
        except GatewayError as error:
            return None, str(error)


def _by_leader(
    leaders: Leaders, topic: str, partitions: Iterable[int], silent: dict[int, str]
) -> dict[Address, list[int]]:
    led: dict[Address, list[int]] = {}
    for number in partitions:
        try:
            led.setdefault(leaders.address(TopicPartition(topic, number)), []).append(number)
        except ApiError as error:
            silent[number] = error.message or error.code.meaning
    return led


def _batches(numbers: Iterable[int]) -> Iterator[list[int]]:
    waiting = iter(numbers)
    while batch := list(islice(waiting, PARTITIONS_PER_REQUEST)):
        yield batch


def _producers_of(
    cluster: ClusterConnections, address: Address, topic: str, partitions: list[int], silent: dict[int, str]
) -> Iterator[ProducerView]:
    request = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=partitions)])
    answer = cluster.connection(*address).ask(request)
    for topic_response in answer.topics:
        for partition in topic_response.partitions:
            if partition.error_code:
                silent[partition.partition_index] = (
                    partition.error_message or error_code_of(partition.error_code).meaning
                )
            yield from (_producer(partition.partition_index, state) for state in partition.active_producers)


def _producer(partition: int, state: ProducerState) -> ProducerView:
    return ProducerView(
        partition=partition,
        producer_id=state.producer_id,
        epoch=state.producer_epoch,
        last_sequence=state.last_sequence,
        last_at_ms=state.last_timestamp if state.last_timestamp >= 0 else None,
        coordinator_epoch=state.coordinator_epoch,
        open_from=state.current_txn_start_offset if state.current_txn_start_offset >= 0 else None,
    )


def _transactions(cluster: ClusterConnections, producer_ids: list[int], timeout_seconds: float) -> TransactionsView:
    coordinators = Coordinators(cluster, timeout_s=timeout_seconds)
    views: list[TransactionView] = []
    untold = _without_coordinator(cluster)
    for broker_id, address in sorted(cluster.brokers().items()):
        try:
            answer = cluster.connection(*address).ask(ListTransactionsRequest(producer_id_filters=producer_ids))
        except (BrokerUnreachable, ProtocolError):
            cluster.forget(*address)
            untold = f"Broker {broker_id} did not say which transactions it coordinates."
            continue
        if answer.error_code:
            meaning = error_code_of(answer.error_code).meaning
            untold = f"Broker {broker_id} did not say which transactions it coordinates: {meaning}"
        for listed in answer.transaction_states[:TRANSACTIONS_MAX]:
            try:
                views.append(_transaction(broker_id, describe_transaction(coordinators, listed.transactional_id)))
            except ApiError as error:
                if error.code is not ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                    untold = f"Broker {broker_id} did not say what its transactions are at: {error.code.meaning}"
    return TransactionsView(tuple(sorted(views, key=lambda view: view.transactional_id)), untold)


def _without_coordinator(cluster: ClusterConnections) -> str:
    (topic,) = cluster.describe_topics([TRANSACTIONS_TOPIC]).topics
    if any(partition.leader_id < 0 for partition in topic.partitions):
        return f"Partitions of {TRANSACTIONS_TOPIC} have no leader: the transactions in them are unknown."
    return ""


def _transaction(broker_id: int, state: TransactionState) -> TransactionView:
    return TransactionView(
        transactional_id=state.transactional_id,
        coordinator=broker_id,
        producer_id=state.producer_id,
        epoch=state.producer_epoch,
        state=state.transaction_state,
        timeout_ms=state.transaction_timeout_ms,
        started_at_ms=state.transaction_start_time_ms if state.transaction_start_time_ms >= 0 else None,
        partitions=frozenset((topic.topic, number) for topic in state.topics for number in topic.partitions),
    )


def _marker(topic: str, producer: ProducerView) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[producer.partition])],
        coordinator_epoch=max(producer.coordinator_epoch, 0),
    )
