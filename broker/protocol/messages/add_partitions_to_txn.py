"""AddPartitionsToTxn: partitions a transaction is about to write to.

Up to version 3 a producer names the partitions of its one transaction, in the top-level fields. From version 4 brokers
ask for many transactions at once, each in `transactions`, and may only verify (KIP-890).
"""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int16, int32, int64, string, wire


class AddPartitionsToTxnTopic(Struct):
    name: str = wire(string)
    partitions: list[int] = wire(array(int32))


class AddPartitionsToTxnTransaction(Struct):
    transactional_id: str = wire(string)
    producer_id: int = wire(int64)
    producer_epoch: int = wire(int16)
    verify_only: bool = wire(boolean)  #: ask whether the partitions are in the transaction, add nothing
    topics: list[AddPartitionsToTxnTopic] = wire(array(AddPartitionsToTxnTopic))


class AddPartitionsToTxnRequest(
    Request["AddPartitionsToTxnResponse"], api=ApiKey.ADD_PARTITIONS_TO_TXN, versions=(0, 5), flexible_from=3
):
    """Make partitions part of open transactions.

    2: PRODUCER_FENCED exists. 4: many transactions, verification. 5: new transaction errors.
    """

    transactions: list[AddPartitionsToTxnTransaction] = wire(array(AddPartitionsToTxnTransaction), since=4)
    v3_and_below_transactional_id: str = wire(string, until=3)
    v3_and_below_producer_id: int = wire(int64, until=3)
    v3_and_below_producer_epoch: int = wire(int16, until=3)
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = wire(array(AddPartitionsToTxnTopic), until=3)


class AddPartitionsToTxnPartitionResult(Struct):
    partition_index: int = wire(int32)
    partition_error_code: int = wire(int16)


class AddPartitionsToTxnTopicResult(Struct):
    name: str = wire(string)
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = wire(array(AddPartitionsToTxnPartitionResult))


class AddPartitionsToTxnResult(Struct):
    transactional_id: str = wire(string)
    topic_results: list[AddPartitionsToTxnTopicResult] = wire(array(AddPartitionsToTxnTopicResult))


class AddPartitionsToTxnResponse(Message, api=ApiKey.ADD_PARTITIONS_TO_TXN, versions=(0, 5), flexible_from=3):
    """One result for each partition; of one transaction all are added or none. 4: one entry for each transaction."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16, since=4, ignorable=True)
    results_by_transaction: list[AddPartitionsToTxnResult] = wire(array(AddPartitionsToTxnResult), since=4)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = wire(
        array(AddPartitionsToTxnTopicResult), until=3
    )
