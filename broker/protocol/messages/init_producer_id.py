"""InitProducerId: an id and an epoch for an idempotent or transactional producer."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, boolean, int16, int32, int64, string, wire


class InitProducerIdRequest(
    Request["InitProducerIdResponse"], api=ApiKey.INIT_PRODUCER_ID, versions=(0, 6), flexible_from=2
):
    """3: a producer may raise its own epoch (KIP-360). 4: PRODUCER_FENCED exists. 5: new transaction errors.

    6: two-phase commit (KIP-939).
    """

    transactional_id: str | None = wire(string, nullable=True)  #: null for a producer without transactions
    transaction_timeout_ms: int = wire(int32)
    producer_id: int = wire(int64, since=3, default=-1)  #: the id held now, -1 for none
    producer_epoch: int = wire(int16, since=3, default=-1)
    enable2_pc: bool = wire(boolean, since=6)  #: a coordinator outside ends the transactions, whenever that is
    keep_prepared_txn: bool = wire(boolean, since=6)  #: do not abort the open transaction


class InitProducerIdResponse(Message, api=ApiKey.INIT_PRODUCER_ID, versions=(0, 6), flexible_from=2):
    """The id to stamp into batches."""

    throttle_time_ms: int = wire(int32, ignorable=True)
    error_code: int = wire(int16)
    producer_id: int = wire(int64, default=-1)
    producer_epoch: int = wire(int16)
    #: Of the transaction that was kept open, -1 without one.
    ongoing_txn_producer_id: int = wire(int64, since=6, default=-1)
    ongoing_txn_producer_epoch: int = wire(int16, since=6, default=-1)
