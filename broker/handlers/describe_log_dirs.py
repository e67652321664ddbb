"""DescribeLogDirs: this broker's log directories, their volumes, and the partitions in them (KIP-113, KIP-827)."""

from broker.handlers.handler import OF_PARTITIONS, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from broker.runtime.log_dirs import LogDir


async def handle_describe_log_dirs(request: DescribeLogDirsRequest, context: RequestContext) -> DescribeLogDirsResponse:
    wanted = None if request.topics is None else {topic.topic: set(topic.partitions) for topic in request.topics}
    found = await context.services.log_dirs.describe()
    return DescribeLogDirsResponse(results=[_result(each, wanted) for each in found])


def _result(found: LogDir, wanted: dict[str, set[int]] | None) -> DescribeLogDirsResult:
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    for topic_partition, size_bytes in sorted(found.partitions.items()):
        topic, index = topic_partition
        if wanted is None or index in wanted.get(topic, ()):
            entry = DescribeLogDirsPartition(partition_index=index, partition_size=size_bytes)
            topics.setdefault(topic, []).append(entry)
    return DescribeLogDirsResult(
        error_code=found.error_code,
        log_dir=found.path,
        topics=[DescribeLogDirsTopic(name=name, partitions=entries) for name, entries in topics.items()],
        total_bytes=found.total_bytes,
        usable_bytes=found.usable_bytes,
    )


HANDLER = public(ApiKey.DESCRIBE_LOG_DIRS, 0, 4, handle_describe_log_dirs, budget=OF_PARTITIONS)
