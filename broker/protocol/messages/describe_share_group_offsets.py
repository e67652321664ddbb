"""DescribeShareGroupOffsets: where share groups stand (KIP-932). Served by Kafka from 4.1 on, not by this broker."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, uuid, wire


class DescribeShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = wire(string)
    partitions: list[int] = wire(array(int32))


class DescribeShareGroupOffsetsRequestGroup(Struct):
    group_id: str = wire(string)
    #: Null for every partition that the group has read.
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = wire(
        array(DescribeShareGroupOffsetsRequestTopic), nullable=True
    )


class DescribeShareGroupOffsetsRequest(
    Request["DescribeShareGroupOffsetsResponse"],
    api=ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
    versions=(0, 1),
    flexible_from=0,
):
    """To the coordinator of the groups."""

    groups: list[DescribeShareGroupOffsetsRequestGroup] = wire(array(DescribeShareGroupOffsetsRequestGroup))


class DescribeShareGroupOffsetsResponsePartition(Struct):
    partition_index: int = wire(int32)
    start_offset: int = wire(int64)  #: of the first record that is not acknowledged; -1: nothing was delivered yet
    leader_epoch: int = wire(int32)
    lag: int = wire(int64, since=1, default=-1, ignorable=True)  #: records that are not acknowledged; -1: not told
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)


class DescribeShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = wire(string)
    topic_id: UUID = wire(uuid)
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = wire(
        array(DescribeShareGroupOffsetsResponsePartition)
    )


class DescribeShareGroupOffsetsResponseGroup(Struct):
    group_id: str = wire(string)
    topics: list[DescribeShareGroupOffsetsResponseTopic] = wire(array(DescribeShareGroupOffsetsResponseTopic))
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)


class DescribeShareGroupOffsetsResponse(
    Message, api=ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, versions=(0, 1), flexible_from=0
):
    """1: the lag of each partition (KIP-1226)."""

    throttle_time_ms: int = wire(int32)
    groups: list[DescribeShareGroupOffsetsResponseGroup] = wire(array(DescribeShareGroupOffsetsResponseGroup))
