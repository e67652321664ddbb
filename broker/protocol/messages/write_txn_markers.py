"""WriteTxnMarkers: a transaction coordinator has leaders end transactions in their logs.

Sent by brokers, and by an operator's tool that aborts a hanging transaction (KIP-664).
"""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int8, int16, int32, int64, string, wire


class WritableTxnMarkerTopic(Struct):
    name: str = wire(string)
    partition_indexes: list[int] = wire(array(int32))


class WritableTxnMarker(Struct):
    producer_id: int = wire(int64)
    producer_epoch: int = wire(int16)
    transaction_result: bool = wire(boolean)  #: true commits, false aborts
    topics: list[WritableTxnMarkerTopic] = wire(array(WritableTxnMarkerTopic))
    coordinator_epoch: int = wire(int32)  #: leader epoch of the coordinator's partition; an old one is refused
    #: 2: the epoch is higher than that of the transaction which the marker ends (KIP-1228).
    transaction_version: int = wire(int8, since=2, default=0, ignorable=True)


class WriteTxnMarkersRequest(
    Request["WriteTxnMarkersResponse"], api=ApiKey.WRITE_TXN_MARKERS, versions=(0, 2), flexible_from=1
):
    """Append a control batch to each partition named. 2: by which protocol the transaction has ended."""

    markers: list[WritableTxnMarker] = wire(array(WritableTxnMarker))


class WritableTxnMarkerPartitionResult(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)


class WritableTxnMarkerTopicResult(Struct):
    name: str = wire(string)
    partitions: list[WritableTxnMarkerPartitionResult] = wire(array(WritableTxnMarkerPartitionResult))


class WritableTxnMarkerResult(Struct):
    producer_id: int = wire(int64)
    topics: list[WritableTxnMarkerTopicResult] = wire(array(WritableTxnMarkerTopicResult))


class WriteTxnMarkersResponse(Message, api=ApiKey.WRITE_TXN_MARKERS, versions=(0, 2), flexible_from=1):
    """One result for each partition of each marker."""

    markers: list[WritableTxnMarkerResult] = wire(array(WritableTxnMarkerResult))
