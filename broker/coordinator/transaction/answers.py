"""Responses of the transaction coordinator to producers."""

from collections.abc import Mapping
from itertools import groupby

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.outcome import APPEND_ERRORS
from broker.coordinator.transaction.transaction import NO_PRODUCER_EPOCH, Transaction
from broker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnResponse
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from broker.protocol.messages.end_txn import EndTxnResponse
from broker.protocol.messages.init_producer_id import InitProducerIdResponse
from broker.protocol.schema import Message

Results = Mapping[TopicPartition, ErrorCode]


def initialised(transaction: Transaction) -> InitProducerIdResponse:
    return InitProducerIdResponse(producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch)


def init_refused(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error, producer_epoch=NO_PRODUCER_EPOCH)


def ended(transaction: Transaction, *, raises_epoch: bool) -> EndTxnResponse:
    """Return the response; it names what the producer goes on with, if the end has raised its epoch.

    A producer that is answered an epoch begins its sequences anew: under the same epoch its next records would be taken
    for those before.
    """
    if not raises_epoch:
        return EndTxnResponse()
    producer_id, epoch = transaction.after_completion
    return EndTxnResponse(producer_id=producer_id, producer_epoch=epoch)


def partitions_added(results: Results) -> AddPartitionsToTxnResponse:
    """Return the response; up to version 3 for the single transaction of the request."""
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_by_topic(results))


def batch_answered(by_transaction: Mapping[str, Results]) -> AddPartitionsToTxnResponse:
    """Respond in the form of AddPartitionsToTxn from version 4 on."""
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(transactional_id=transactional_id, topic_results=_by_topic(results))
            for transactional_id, results in by_transaction.items()
        ]
    )


def _by_topic(results: Results) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(partition_index=partition, partition_error_code=error)
                for (_, partition), error in those
            ],
        )
        for topic, those in groupby(sorted(results.items()), key=lambda item: item[0].topic)
    ]


def uncommitted(response: Message, append_error: ErrorCode) -> Message:
    """Return the answer that takes the place of `response` when the records it waited for could not be committed."""
    error = APPEND_ERRORS.get(append_error, append_error)
    match response:
        case InitProducerIdResponse() if response.error_code == ErrorCode.NONE:
            return init_refused(error)
        case EndTxnResponse() if response.error_code == ErrorCode.NONE:
            return EndTxnResponse(error_code=error)
        case AddOffsetsToTxnResponse() if response.error_code == ErrorCode.NONE:
            response.error_code = error
        case AddPartitionsToTxnResponse():
            _fail_added(response, error)
    return response


def _fail_added(response: AddPartitionsToTxnResponse, error: ErrorCode) -> None:
    topics = list(response.results_by_topic_v3_and_below or [])
    for name in response.results_by_transaction or []:
        topics += name.topic_results
    for topic in topics:
        for result in topic.results_by_partition:
            if result.partition_error_code == ErrorCode.NONE:
                result.partition_error_code = error
