"""DescribeTransactions: what transactional ids are doing, as their coordinator knows it (KIP-664)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, wire


class DescribeTransactionsRequest(
    Request["DescribeTransactionsResponse"], api=ApiKey.DESCRIBE_TRANSACTIONS, versions=(0, 0), flexible_from=0
):
    """Describe some transactional ids, each succeeding or failing alone."""

    transactional_ids: list[str] = wire(array(string))


class TopicData(Struct):
    topic: str = wire(string)
    partitions: list[int] = wire(array(int32))


class TransactionState(Struct):
    error_code: int = wire(int16)
    transactional_id: str = wire(string)
    transaction_state: str = wire(string)  #: "Empty", "Ongoing", "PrepareCommit", "CompleteAbort" …
    transaction_timeout_ms: int = wire(int32)
    transaction_start_time_ms: int = wire(int64)  #: -1 while no transaction is open
    producer_id: int = wire(int64)
    producer_epoch: int = wire(int16)
    topics: list[TopicData] = wire(array(TopicData))  #: what the open transaction writes to


class DescribeTransactionsResponse(Message, api=ApiKey.DESCRIBE_TRANSACTIONS, versions=(0, 0), flexible_from=0):
    """One result for each transactional id."""

    throttle_time_ms: int = wire(int32)
    transaction_states: list[TransactionState] = wire(array(TransactionState))
