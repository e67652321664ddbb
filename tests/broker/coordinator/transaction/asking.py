"""Requests about partitions, and the one error of their answers."""

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from broker.protocol.schema import Message


def to_add(transactional_id: str, producer: tuple[int, int], *partitions: TopicPartition) -> AddPartitionsToTxnRequest:
    """As producers ask."""
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=_topics(partitions),
    )


def to_verify(
    transactional_id: str, producer: tuple[int, int], *partitions: TopicPartition
) -> AddPartitionsToTxnRequest:
    """As leaders ask before they write."""
    return AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=transactional_id,
                producer_id=producer[0],
                producer_epoch=producer[1],
                verify_only=True,
                topics=_topics(partitions),
            )
        ]
    )


def to_add_for_producer(
    transactional_id: str, producer: tuple[int, int], *partitions: TopicPartition
) -> AddPartitionsToTxnRequest:
    """As leaders ask for a producer that adds nothing itself (KIP-890, part 2)."""
    request = to_verify(transactional_id, producer, *partitions)
    request.transactions[0].verify_only = False
    return request


def errors_of(response: AddPartitionsToTxnResponse) -> dict[TopicPartition, ErrorCode]:
    topics = [*response.results_by_topic_v3_and_below]
    for item in response.results_by_transaction:
        topics += item.topic_results
    return {
        TopicPartition(topic.name, partition.partition_index): ErrorCode(partition.partition_error_code)
        for topic in topics
        for partition in topic.results_by_partition
    }


def error_of(response: Message) -> ErrorCode:
    """Of any response; all partitions must share it."""
    if not isinstance(response, AddPartitionsToTxnResponse):
        return ErrorCode(response.error_code)
    (code,) = set(errors_of(response).values())
    return code


def _topics(partitions: tuple[TopicPartition, ...]) -> list[AddPartitionsToTxnTopic]:
    return [AddPartitionsToTxnTopic(name=name, partitions=[index]) for name, index in partitions]
