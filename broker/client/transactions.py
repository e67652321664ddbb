"""Transactions as requests: a producer's identity, what its transaction touches, and how it ends.

The identity is plain data, so that who wrote and who ends may be two processes: a transaction stays open until its
coordinator's timeout, whoever holds the connection.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from broker.client.cluster import ClusterConnections
from broker.client.coordinators import Coordinators
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.common.types import TopicPartition
from broker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest, TransactionState
from broker.protocol.messages.end_txn import EndTxnRequest
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from broker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

ONGOING = "Ongoing"
#: States in which a transaction has records that markers are still to end.
UNDECIDED = (ONGOING, "PrepareCommit", "PrepareAbort")
#: The newest version a producer uses; later ones are for brokers.
_ADD_PARTITIONS_BY_PRODUCER = 3
#: The last versions in which a producer adds itself what it writes to, and keeps its epoch when a transaction ends: in
#: later ones brokers do both (KIP-890, part 2), and who speaks some of them speaks all.
PRODUCE_VERSION_MAX = 11
_OFFSETS_VERSION_MAX = 4
_END_VERSION_MAX = 4

_TRANSACTION = CoordinatorType.TRANSACTION


class ProducerIdentity(NamedTuple):
    """The writer's identity. A transaction of an older epoch cannot be ended or written to any more."""

    transactional_id: str
    producer_id: int
    epoch: int


def init_producer(
    coordinators: Coordinators, transactional_id: str, timeout_ms: int, current: ProducerIdentity | None = None
) -> ProducerIdentity:
    """Get a new epoch of the id: aborts its open transaction and fences the earlier producer.

    With `current` only who holds that epoch gets the next one (KIP-360); ApiError PRODUCER_FENCED for anybody else.
    """
    request = InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=timeout_ms,
        producer_id=current.producer_id if current else -1,
        producer_epoch=current.epoch if current else -1,
    )
    answer = coordinators.ask(_TRANSACTION, transactional_id, request, _error_code)
    return ProducerIdentity(transactional_id, answer.producer_id, answer.producer_epoch)


def add_partitions(coordinators: Coordinators, who: ProducerIdentity, partitions: Iterable[TopicPartition]) -> None:
    """Add partitions to the transaction before their first record; opens the transaction."""
    topics: dict[str, list[int]] = {}
    for topic, index in partitions:
        topics.setdefault(topic, []).append(index)
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=who.transactional_id,
        v3_and_below_producer_id=who.producer_id,
        v3_and_below_producer_epoch=who.epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=item) for name, item in topics.items()],
    )
    coordinators.ask(
        _TRANSACTION, who.transactional_id, request, _error_of_partitions, version_max=_ADD_PARTITIONS_BY_PRODUCER
    )


def commit_offset(
    coordinators: Coordinators, who: ProducerIdentity, group: str, at: TopicPartition, offset: int, metadata: str
) -> None:
    """Commit an offset of `group` within the transaction, which is opened if need be."""
    request = AddOffsetsToTxnRequest(
        transactional_id=who.transactional_id,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        group_id=group,
    )
    coordinators.ask(_TRANSACTION, who.transactional_id, request, _error_code)
    partition = TxnOffsetCommitRequestPartition(
        partition_index=at.partition, committed_offset=offset, committed_metadata=metadata
    )
    commit = TxnOffsetCommitRequest(
        transactional_id=who.transactional_id,
        group_id=group,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        topics=[TxnOffsetCommitRequestTopic(name=at.topic, partitions=[partition])],
    )
    coordinators.ask(CoordinatorType.GROUP, group, commit, _error_of_offset, version_max=_OFFSETS_VERSION_MAX)


def end_transaction(coordinators: Coordinators, who: ProducerIdentity, *, commit: bool) -> None:
    """Ends it once; asked again it says the same. ApiError when the producer was fenced or the outcome is the other."""
    request = EndTxnRequest(
        transactional_id=who.transactional_id,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        committed=commit,
    )
    coordinators.ask(_TRANSACTION, who.transactional_id, request, _error_code, version_max=_END_VERSION_MAX)


def describe_transaction(coordinators: Coordinators, transactional_id: str) -> TransactionState:
    """Raises ApiError(TRANSACTIONAL_ID_NOT_FOUND) for one nobody knows."""
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    answer = coordinators.ask(
        _TRANSACTION, transactional_id, request, lambda answer: answer.transaction_states[0].error_code
    )
    return answer.transaction_states[0]


def open_transactions(cluster: ClusterConnections, prefix: str) -> list[str]:
    """Return the transactional ids that begin with `prefix` and have an open transaction, from all brokers there
    are.
    """
    transactional_ids: set[str] = set()
    for broker in cluster.describe_topics([]).brokers:
        answer = cluster.connection(broker.host, broker.port).ask(ListTransactionsRequest(state_filters=[ONGOING]))
        if answer.error_code:
            raise ApiError(error_code_of(answer.error_code))
        transactional_ids |= {state.transactional_id for state in answer.transaction_states}
    return sorted(name for name in transactional_ids if name.startswith(prefix))


class _Coded(Protocol):
    error_code: int


def _error_code(answer: _Coded) -> int:
    return answer.error_code


def _error_of_partitions(answer: AddPartitionsToTxnResponse) -> int:
    codes = [
        item.partition_error_code
        for topic in answer.results_by_topic_v3_and_below
        for item in topic.results_by_partition
    ]
    return _worst(codes)


def _error_of_offset(answer: TxnOffsetCommitResponse) -> int:
    return _worst([partition.error_code for topic in answer.topics for partition in topic.partitions])


def _worst(codes: list[int]) -> int:
    """Return the worst code: one that waiting does not mend before one that it does; OPERATION_NOT_ATTEMPTED last."""
    wrong = [error_code_of(code) for code in codes if code]
    wrong.sort(key=lambda code: (code is ErrorCode.OPERATION_NOT_ATTEMPTED, code.retriable))
    return wrong[0] if wrong else ErrorCode.NONE
