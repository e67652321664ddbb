"""AlterReplicaLogDirs: move replicas between the log directories of one broker (KIP-113)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, wire


class AlterReplicaLogDirTopic(Struct):
    name: str = wire(string)
    partitions: list[int] = wire(array(int32))


class AlterReplicaLogDir(Struct):
    path: str = wire(string)  #: absolute path of the directory to move to
    topics: list[AlterReplicaLogDirTopic] = wire(array(AlterReplicaLogDirTopic))


class AlterReplicaLogDirsRequest(
    Request["AlterReplicaLogDirsResponse"], api=ApiKey.ALTER_REPLICA_LOG_DIRS, versions=(1, 2), flexible_from=2
):
    """Move some replicas; a replica that does not exist yet is created there later."""

    dirs: list[AlterReplicaLogDir] = wire(array(AlterReplicaLogDir))


class AlterReplicaLogDirPartitionResult(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)


class AlterReplicaLogDirTopicResult(Struct):
    topic_name: str = wire(string)
    partitions: list[AlterReplicaLogDirPartitionResult] = wire(array(AlterReplicaLogDirPartitionResult))


class AlterReplicaLogDirsResponse(Message, api=ApiKey.ALTER_REPLICA_LOG_DIRS, versions=(1, 2), flexible_from=2):
    """One result for each partition: whether the move has begun. DescribeLogDirs shows how far it is."""

    throttle_time_ms: int = wire(int32)
    results: list[AlterReplicaLogDirTopicResult] = wire(array(AlterReplicaLogDirTopicResult))
