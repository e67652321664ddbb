"""DescribeLogDirs: this broker's log directories, their volumes, and the partitions in them (KIP-113, KIP-827)."""

from operator import itemgetter

from broker.common.errors import ApiError
from broker.handlers.authorization import require_on_cluster
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from broker.runtime.log_dirs import LogDir
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation


async def handle_describe_log_dirs(request: DescribeLogDirsRequest, context: RequestContext) -> DescribeLogDirsResponse:
    try:
        require_on_cluster(AclOperation.DESCRIBE, context)
    except ApiError as error:
        return DescribeLogDirsResponse(error_code=error.code)
    wanted = None if request.topics is None else {topic.topic: set(topic.partitions) for topic in request.topics}
    log_dirs = await context.services.log_dirs.describe()
    return DescribeLogDirsResponse(results=[_result(item, wanted) for item in log_dirs])


def _result(log_dir: LogDir, wanted: dict[str, set[int]] | None) -> DescribeLogDirsResult:
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    entries = [
        (item, DescribeLogDirsPartition(partition_index=item.partition, partition_size=size))
        for item, size in log_dir.partitions.items()
    ]
    entries += [(item, _future(item.partition, size, lag)) for item, (size, lag) in log_dir.futures.items()]
    for (topic, index), entry in sorted(entries, key=itemgetter(0)):
        if wanted is None or index in wanted.get(topic, ()):
            topics.setdefault(topic, []).append(entry)
    return DescribeLogDirsResult(
        error_code=log_dir.error_code,
        log_dir=log_dir.path,
        topics=[DescribeLogDirsTopic(name=name, partitions=entries) for name, entries in topics.items()],
        total_bytes=log_dir.total_bytes,
        usable_bytes=log_dir.usable_bytes,
        is_full=log_dir.is_full,
        stray_count=log_dir.stray_count,
        stray_bytes=log_dir.stray_bytes,
    )


def _future(index: int, size_bytes: int, lag: int) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(
        partition_index=index, partition_size=size_bytes, offset_lag=lag, is_future_key=True
    )


HANDLER = public(ApiKey.DESCRIBE_LOG_DIRS, 0, 5, handle_describe_log_dirs, budget=OF_PARTITIONS)
