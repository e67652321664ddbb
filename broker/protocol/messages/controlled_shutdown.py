"""ControlledShutdown: a broker about to stop asks the controller to move its leaders away. Between brokers only.

Only the version that Kafka 3.9's brokers send is declared.
"""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, wire


class ControlledShutdownRequest(
    Request["ControlledShutdownResponse"], api=ApiKey.CONTROLLED_SHUTDOWN, versions=(3, 3), flexible_from=3
):
    """Move leadership away from this broker."""

    broker_id: int = wire(int32)
    broker_epoch: int = wire(int64, default=-1, ignorable=True)  #: czxid of the broker's znode


class RemainingPartition(Struct):
    topic_name: str = wire(string)
    partition_index: int = wire(int32)


class ControlledShutdownResponse(Message, api=ApiKey.CONTROLLED_SHUTDOWN, versions=(3, 3), flexible_from=3):
    """The partitions that could not be moved; none means the broker may stop."""

    error_code: int = wire(int16)
    remaining_partitions: list[RemainingPartition] = wire(array(RemainingPartition))
