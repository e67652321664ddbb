"""EndTxn: a producer commits or aborts its transaction."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, boolean, int16, int32, int64, string, wire


class EndTxnRequest(Request["EndTxnResponse"], api=ApiKey.END_TXN, versions=(0, 5), flexible_from=3):
    """Decide the open transaction. 2: PRODUCER_FENCED exists. 4: new transaction errors.

    5: the end raises the producer's epoch (KIP-890, part 2).
    """

    transactional_id: str = wire(string)
    producer_id: int = wire(int64)
    producer_epoch: int = wire(int16)
    committed: bool = wire(boolean)  #: false aborts


class EndTxnResponse(Message, api=ApiKey.END_TXN, versions=(0, 5), flexible_from=3):
    """Without an error the decision is durable; its markers may still be on their way to the partitions."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    producer_id: int = wire(int64, since=5, default=-1, ignorable=True)  #: with which the producer goes on
    producer_epoch: int = wire(int16, since=5, default=-1, ignorable=True)
