"""ListTransactions: the transactional ids a broker coordinates (KIP-664)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, wire


class ListTransactionsRequest(
    Request["ListTransactionsResponse"], api=ApiKey.LIST_TRANSACTIONS, versions=(0, 2), flexible_from=0
):
    """An id is listed if it passes every filter; an empty filter passes all. 1: long-running ones only (KIP-994).

    2: ids that a pattern matches (KIP-1152).
    """

    state_filters: list[str] = wire(array(string))
    producer_id_filters: list[int] = wire(array(int64))
    duration_filter: int = wire(int64, since=1, default=-1)  #: milliseconds a transaction has been open; -1 for all
    #: In the syntax of RE2, for the whole id; null or empty for all.
    transactional_id_pattern: str | None = wire(string, since=2, nullable=True, default=None)


class TransactionState(Struct):
    transactional_id: str = wire(string)
    producer_id: int = wire(int64)
    transaction_state: str = wire(string)  #: "Empty", "Ongoing", "PrepareCommit", "CompleteAbort" …


class ListTransactionsResponse(Message, api=ApiKey.LIST_TRANSACTIONS, versions=(0, 2), flexible_from=0):
    """The ids that pass the filters."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    unknown_state_filters: list[str] = wire(array(string))  #: names that are no state's
    transaction_states: list[TransactionState] = wire(array(TransactionState))
