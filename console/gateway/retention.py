"""What retention would delete, asked by our brokers' own API over the wire, in the console's words."""

from collections.abc import Mapping

from broker.client.cluster import Cluster, parse_bootstrap_servers
from broker.client.errors import ApiNotServed, BrokerUnreachable
from broker.client.retention import PreviewQuestion, preview_retention
from broker.common.errors import ApiError, BarnabasError, ErrorCode
from broker.protocol.messages.preview_retention import DeletionReason, PreviewRetentionPartitionResult
from console.gateway.errors import ClusterUnreachableError, GatewayError, refusal
from console.gateway.retention_views import DoomedSegment, PartitionRetention, RetentionView

#: A preview of compaction reads the log; what is not looked at by then is answered so.
PREVIEW_TIMEOUT_SECONDS = 8.0

_REASONS = {
    DeletionReason.LOG_START_OFFSET: "deleted records",
    DeletionReason.TIME: "retention.ms",
    DeletionReason.SIZE: "retention.bytes",
    DeletionReason.COMPACTION: "compaction",
}


def ask_retention(
    bootstrap_servers: str, topic: str, configs: Mapping[str, str | None], timeout_seconds: float
) -> RetentionView:
    """Raises GatewayError: refused, unreachable, or a cluster that does not know the question."""
    question = PreviewQuestion(topic, configs=configs, timeout_s=PREVIEW_TIMEOUT_SECONDS)
    try:
        with Cluster(parse_bootstrap_servers(bootstrap_servers), timeout_s=timeout_seconds) as cluster:
            answer = preview_retention(cluster, question)
    except ApiError as error:
        raise refusal(error.code, error.message or "") from error
    except BrokerUnreachable as error:
        raise ClusterUnreachableError("No broker answered in time.") from error
    except ApiNotServed as error:
        raise GatewayError("These brokers cannot preview retention: only Barnabas brokers can.") from error
    except BarnabasError as error:
        raise GatewayError(str(error)) from error
    return RetentionView(
        answer.cleanup_policy,
        answer.retention_ms,
        answer.retention_bytes,
        tuple(_partition(each) for each in answer.partitions),
    )


def _partition(answer: PreviewRetentionPartitionResult) -> PartitionRetention:
    if answer.error_code:
        return PartitionRetention(answer.partition_index, answer.error_message or ErrorCode(answer.error_code).meaning)
    found = answer.compaction
    compacted = found and (
        found.records_superseded + found.records_expired + found.records_without_key + found.records_aborted
    )
    return PartitionRetention(
        partition=answer.partition_index,
        first_offset=answer.log_start_offset,
        new_first_offset=answer.new_log_start_offset,
        next_offset=answer.log_end_offset,
        segment_count=answer.segment_count,
        size_bytes=answer.size_bytes,
        deleted_segments=answer.deleted_segments,
        deleted_bytes=answer.deleted_bytes,
        deleted_records=answer.deleted_records,
        segments=tuple(
            DoomedSegment(
                each.base_offset,
                each.last_offset,
                each.size_bytes,
                each.max_timestamp if each.max_timestamp >= 0 else None,
                _REASONS[each.reason],
            )
            for each in answer.segments
        ),
        compacted_records=compacted,
    )
