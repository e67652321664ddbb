"""DescribeLogDirs: how much room a broker's log directories have and which replicas fill it (KIP-113)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import (
    OWN_TAG_MIN,
    Message,
    Request,
    Struct,
    array,
    boolean,
    int16,
    int32,
    int64,
    string,
    wire,
)


class DescribableLogDirTopic(Struct):
    topic: str = wire(string)
    partitions: list[int] = wire(array(int32))


class DescribeLogDirsRequest(
    Request["DescribeLogDirsResponse"], api=ApiKey.DESCRIBE_LOG_DIRS, versions=(0, 5), flexible_from=2
):
    """Each broker answers for its own directories only."""

    #: Null for every partition the broker hosts.
    topics: list[DescribableLogDirTopic] | None = wire(array(DescribableLogDirTopic), nullable=True)


class DescribeLogDirsPartition(Struct):
    partition_index: int = wire(int32)
    partition_size: int = wire(int64)  #: bytes of all its segments
    #: Records this replica lacks: up to the high watermark or, for a future replica, up to the end of the current one.
    offset_lag: int = wire(int64)
    is_future_key: bool = wire(boolean)  #: a copy on its way to this directory, not the replica in use


class DescribeLogDirsTopic(Struct):
    name: str = wire(string)
    partitions: list[DescribeLogDirsPartition] = wire(array(DescribeLogDirsPartition))


class DescribeLogDirsResult(Struct):
    error_code: int = wire(int16)  #: KAFKA_STORAGE_ERROR when the directory is offline
    log_dir: str = wire(string)  #: absolute path
    topics: list[DescribeLogDirsTopic] = wire(array(DescribeLogDirsTopic))
    total_bytes: int = wire(int64, since=4, default=-1, ignorable=True)  #: of the volume; -1 when unknown
    usable_bytes: int = wire(int64, since=4, default=-1, ignorable=True)  #: left on the volume; -1 when unknown
    is_cordoned: bool = wire(boolean, since=5, default=False, ignorable=True)  #: takes no new replicas
    #: A write was refused for want of room, and there has not been room for long since: what it led is led elsewhere.
    is_full: bool = wire(boolean, since=2, tag=OWN_TAG_MIN, default=False, ignorable=True)
    #: Logs that were set aside in it (`-stray`), of no partition of the broker: how many, and their bytes.
    stray_count: int = wire(int32, since=2, tag=OWN_TAG_MIN + 1, default=0, ignorable=True)
    stray_bytes: int = wire(int64, since=2, tag=OWN_TAG_MIN + 2, default=0, ignorable=True)


class DescribeLogDirsResponse(Message, api=ApiKey.DESCRIBE_LOG_DIRS, versions=(0, 5), flexible_from=2):
    """One result for each directory. 3: top-level error. 4: size of the volume and room left (KIP-827).

    5: whether it is cordoned (KIP-1066).
    """

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16, since=3, ignorable=True)
    results: list[DescribeLogDirsResult] = wire(array(DescribeLogDirsResult))
