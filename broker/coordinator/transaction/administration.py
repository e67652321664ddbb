"""What operators may ask of transactions: which there are, and what one of them is doing (KIP-664, KIP-994)."""

from collections.abc import Iterable, Mapping
from itertools import groupby

from broker.common.errors import ErrorCode
from broker.coordinator.transaction.states import LABELS
from broker.coordinator.transaction.transaction import NO_TIMESTAMP, Transaction
from broker.protocol.messages import describe_transactions, list_transactions
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from broker.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse


def describe(
    request: DescribeTransactionsRequest, transactions: Mapping[str, Transaction]
) -> DescribeTransactionsResponse:
    states = [_described(each, transactions.get(each)) for each in request.transactional_ids]
    return DescribeTransactionsResponse(transaction_states=states)


def _described(transactional_id: str, transaction: Transaction | None) -> describe_transactions.TransactionState:
    if transaction is None:
        error = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if transactional_id else ErrorCode.INVALID_REQUEST
        return describe_transactions.TransactionState(transactional_id=transactional_id, error_code=error)
    partitions = groupby(sorted(transaction.partitions), key=lambda each: each.topic)
    return describe_transactions.TransactionState(
        transactional_id=transactional_id,
        transaction_state=transaction.state.label,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.started_ms if transaction.state.is_open else NO_TIMESTAMP,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        topics=[
            describe_transactions.TopicData(topic=topic, partitions=[each.partition for each in those])
            for topic, those in partitions
        ],
    )


def list_those(
    request: ListTransactionsRequest, transactions: Iterable[Transaction], wall_ms: int
) -> ListTransactionsResponse:
    return ListTransactionsResponse(
        unknown_state_filters=[each for each in request.state_filters if each not in LABELS],
        transaction_states=[
            list_transactions.TransactionState(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                transaction_state=each.state.label,
            )
            for each in transactions
            if _passes(each, request, wall_ms)
        ],
    )


def _passes(transaction: Transaction, request: ListTransactionsRequest, wall_ms: int) -> bool:
    if request.state_filters and transaction.state.label not in request.state_filters:
        return False
    if request.producer_id_filters and transaction.producer_id not in request.producer_id_filters:
        return False
    if request.duration_filter < 0:
        return True
    return transaction.state.is_open and wall_ms - transaction.started_ms > request.duration_filter
