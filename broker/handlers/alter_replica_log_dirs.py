"""AlterReplicaLogDirs: replicas move between this broker's directories (KIP-113). The answer does not wait for that."""

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.authorization import require_on_cluster
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation


async def handle_alter_replica_log_dirs(
    request: AlterReplicaLogDirsRequest, context: RequestContext
) -> AlterReplicaLogDirsResponse:
    """Move replicas; a partition named for several directories goes to the last one, as in Kafka."""
    wanted = {
        TopicPartition(topic.name, index): directory.path
        for directory in request.dirs
        for topic in directory.topics
        for index in topic.partitions
    }
    try:
        require_on_cluster(AclOperation.ALTER, context)
        codes = await in_turns(
            wanted.items(),
            lambda topic_partitions: _alter(topic_partitions[0], topic_partitions[1], context),
            context.services.turns,
        )
    except ApiError as error:
        codes = [error.code] * len(wanted)
    topics: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for (topic, index), code in zip(wanted, codes, strict=True):
        topics.setdefault(topic, []).append(AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code))
    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(topic_name=name, partitions=item) for name, item in topics.items()]
    )


async def _alter(partition: TopicPartition, path: str, context: RequestContext) -> ErrorCode:
    try:
        await context.services.log_dir_moves.alter(partition, path)
    except ApiError as error:
        is_elsewhere = error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if is_elsewhere and context.services.metadata.partition_of(*partition) is not None:
            return ErrorCode.REPLICA_NOT_AVAILABLE
        return error.code
    return ErrorCode.NONE


HANDLER = public(ApiKey.ALTER_REPLICA_LOG_DIRS, 1, 2, handle_alter_replica_log_dirs, budget=OF_PARTITIONS)
