"""What operators may ask of transactions: which there are, and what one of them is doing (KIP-664, KIP-994)."""

from collections.abc import Iterable, Mapping
from itertools import groupby

from broker.common.errors import ErrorCode
from broker.common.re2_patterns import remembered_re2
from broker.coordinator.transaction.states import LABELS
from broker.coordinator.transaction.transaction import Transaction
from broker.protocol.made_late import made_late
from broker.protocol.messages import describe_transactions, list_transactions
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from broker.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse


def describe(
    request: DescribeTransactionsRequest, transactions: Mapping[str, Transaction]
) -> DescribeTransactionsResponse:
    states = [
        _described(transactional_id, transactions.get(transactional_id))
        for transactional_id in request.transactional_ids
    ]
    return DescribeTransactionsResponse(transaction_states=states)


def _described(transactional_id: str, transaction: Transaction | None) -> describe_transactions.TransactionState:
    if transaction is None:
        error = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if transactional_id else ErrorCode.INVALID_REQUEST
        return describe_transactions.TransactionState(transactional_id=transactional_id, error_code=error)
    partitions = groupby(sorted(transaction.partitions), key=lambda partition: partition.topic)
    return describe_transactions.TransactionState(
        transactional_id=transactional_id,
        transaction_state=transaction.state.label,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.started_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        topics=[
            describe_transactions.TopicData(topic=topic, partitions=[partition.partition for partition in those])
            for topic, those in partitions
        ],
    )


def list_those(
    request: ListTransactionsRequest, transactions: Iterable[Transaction], wall_ms: int
) -> ListTransactionsResponse:
    """List the transactions; durations count from the newest transaction's start, as in Kafka (KIP-994).

    Raises re2.error if the pattern of ids is none.
    """
    pattern = request.transactional_id_pattern
    is_matched = remembered_re2(pattern).fullmatch if pattern else None
    states, producer_ids = set(request.state_filters), set(request.producer_id_filters)
    listed = [
        transaction
        for transaction in transactions
        if (not states or transaction.state.label in states)
        and (not producer_ids or transaction.producer_id in producer_ids)
        and (request.duration_filter < 0 or wall_ms - transaction.started_ms > request.duration_filter)
        and (is_matched is None or is_matched(transaction.transactional_id))
    ]
    return ListTransactionsResponse(
        unknown_state_filters=[filter_ for filter_ in request.state_filters if filter_ not in LABELS],
        transaction_states=made_late(listed, _listed),
    )


def _listed(transaction: Transaction) -> list_transactions.TransactionState:
    return list_transactions.TransactionState(
        transactional_id=transaction.transactional_id,
        producer_id=transaction.producer_id,
        transaction_state=transaction.state.label,
    )
