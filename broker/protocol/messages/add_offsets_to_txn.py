"""AddOffsetsToTxn: a transaction is about to commit the offsets of a group."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, int16, int32, int64, string, wire


class AddOffsetsToTxnRequest(
    Request["AddOffsetsToTxnResponse"], api=ApiKey.ADD_OFFSETS_TO_TXN, versions=(0, 4), flexible_from=3
):
    """Make the group's partition of __consumer_offsets part of the transaction; TxnOffsetCommit follows.

    2: PRODUCER_FENCED exists. 4: new transaction errors.
    """

    transactional_id: str = wire(string)
    producer_id: int = wire(int64)
    producer_epoch: int = wire(int16)
    group_id: str = wire(string)


class AddOffsetsToTxnResponse(Message, api=ApiKey.ADD_OFFSETS_TO_TXN, versions=(0, 4), flexible_from=3):
    """Whether the transaction covers the group now."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
