"""PreviewRetention: the same code that deletes answers what it would delete, for the partitions this broker leads.

It reads whole logs: who may have them deleted, by altering the topic's configuration, may ask.
"""

from collections.abc import Iterator
from itertools import islice

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PREVIEW_SEGMENTS_MAX
from broker.common.types import TopicPartition
from broker.config.definition import render_list
from broker.handlers.authorization import require
from broker.handlers.config_resources import check_topic
from broker.handlers.handler import for_members
from broker.log.compaction.rewrite import RecordFate
from broker.log.config import LogConfig
from broker.log.preview import CompactionPreview, LogPreview
from broker.log.retention import RetentionReason
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.preview_retention import (
    DeletionReason,
    PreviewRetentionCompaction,
    PreviewRetentionPartitionResult,
    PreviewRetentionRequest,
    PreviewRetentionResponse,
    PreviewRetentionSegment,
    PreviewRetentionTopic,
    PreviewRetentionTopicResult,
)
from broker.runtime.gather import gather
from broker.runtime.requests.context import RequestContext
from broker.runtime.requests.current_leader import refusal
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import Rights

_REASONS = {
    RetentionReason.LOG_START_OFFSET: DeletionReason.LOG_START_OFFSET,
    RetentionReason.TIME: DeletionReason.TIME,
    RetentionReason.BYTES: DeletionReason.SIZE,
}


async def handle_preview_retention(
    request: PreviewRetentionRequest, context: RequestContext
) -> PreviewRetentionResponse:
    answer = _RetentionResponse(request, context)
    topics = list({topic.name: topic for topic in request.topics}.values())
    # ZooKeeper is asked of all at once: one after the other each answer would wake it and three threads here.
    configs = await gather((answer.config(topic) for topic in topics), context.services.turns)
    return PreviewRetentionResponse(
        topics=[await answer.topic(topic, config) for topic, config in zip(topics, configs, strict=True)]
    )


class _RetentionResponse:
    """The response to one request."""

    def __init__(self, request: PreviewRetentionRequest, context: RequestContext):
        self._context = context
        self._previews = context.services.retention_previews
        self._include_compaction = request.include_compaction
        self._deadline_ms = self._previews.deadline_ms(request.timeout_ms)
        self._segments_left = PREVIEW_SEGMENTS_MAX

    async def config(self, topic: PreviewRetentionTopic) -> LogConfig | ApiError:
        """Return the settings the topic's logs would have, or the error."""
        try:
            require(AclOperation.ALTER_CONFIGS, ResourceType.TOPIC, topic.name, self._context)
            check_topic(topic.name, self._context)
            if len({config.name for config in topic.configs}) < len(topic.configs):
                raise ApiError(ErrorCode.INVALID_REQUEST, "a configuration is named twice in the request")
            return await self._previews.config_with(topic.name, {config.name: config.value for config in topic.configs})
        except ApiError as error:
            return error

    async def topic(self, topic: PreviewRetentionTopic, config: LogConfig | ApiError) -> PreviewRetentionTopicResult:
        if isinstance(config, ApiError):
            return PreviewRetentionTopicResult(name=topic.name, error_code=config.code, error_message=config.message)
        partitions = self._previews.led_partitions(topic.name) if topic.partitions is None else topic.partitions
        partitions = list(dict.fromkeys(partitions))
        previews = await self._previews.preview(
            topic.name, partitions, config, self._deadline_ms, with_compaction=self._include_compaction
        )
        return PreviewRetentionTopicResult(
            name=topic.name,
            cleanup_policy=render_list(config.cleanup_policy),
            retention_ms=config.retention_ms,
            retention_bytes=config.retention_bytes,
            partitions=[
                self._partition(TopicPartition(topic.name, index), partition)
                for index, partition in zip(partitions, previews, strict=True)
            ],
        )

    def _partition(
        self, topic_partition: TopicPartition, preview: LogPreview | ApiError
    ) -> PreviewRetentionPartitionResult:
        index = topic_partition.partition
        if isinstance(preview, ApiError):
            code = refusal(preview, topic_partition, self._context)
            message = preview.message if code == preview.code else code.meaning
            return PreviewRetentionPartitionResult(partition_index=index, error_code=code, error_message=message)
        segments = list(islice(_segments(preview), self._segments_left))
        self._segments_left -= len(segments)
        return PreviewRetentionPartitionResult(
            partition_index=index,
            log_start_offset=preview.log_start_offset,
            new_log_start_offset=preview.retention.log_start_offset,
            log_end_offset=preview.log_end_offset,
            segment_count=preview.segments_count,
            size_bytes=preview.size_bytes,
            deleted_segments=len(preview.retention.segments),
            deleted_bytes=preview.retention.size_bytes,
            deleted_records=sum(preview.records),
            segments=segments,
            compaction=_compaction(preview.compaction) if preview.compaction else None,
        )


def _segments(preview: LogPreview) -> Iterator[PreviewRetentionSegment]:
    for expired_segment in preview.retention.segments:
        yield PreviewRetentionSegment(
            base_offset=expired_segment.base_offset,
            last_offset=expired_segment.next_offset - 1,
            size_bytes=expired_segment.size_bytes,
            max_timestamp=expired_segment.max_timestamp,
            reason=_REASONS[expired_segment.reason],
        )
    for segment in preview.compaction.plan.segments if preview.compaction else ():
        yield PreviewRetentionSegment(
            base_offset=segment.base_offset,
            last_offset=segment.next_offset - 1,
            size_bytes=segment.size_bytes,
            max_timestamp=segment.max_timestamp,
            reason=DeletionReason.COMPACTION,
        )


def _compaction(preview: CompactionPreview) -> PreviewRetentionCompaction:
    plan, stats = preview.plan, preview.stats
    return PreviewRetentionCompaction(
        is_due=plan.is_due,
        dirty_ratio=plan.dirty_ratio,
        is_complete=not stats.is_map_full,
        end_offset=stats.end_offset,
        bytes_before=stats.bytes_before,
        bytes_after=stats.bytes_after,
        records_kept=stats.records_kept,
        records_superseded=stats.records.get(RecordFate.SUPERSEDED, 0),
        records_expired=stats.records.get(RecordFate.EXPIRED, 0),
        records_without_key=stats.records.get(RecordFate.WITHOUT_KEY, 0),
        records_aborted=stats.records.get(RecordFate.ABORTED, 0),
    )


def _refused(request: PreviewRetentionRequest) -> PreviewRetentionResponse:
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return PreviewRetentionResponse(
        topics=[
            PreviewRetentionTopicResult(name=topic.name, error_code=code, error_message=code.meaning)
            for topic in request.topics
        ]
    )


def _may_preview(rights: Rights) -> bool:
    return rights.may_on_any(AclOperation.ALTER_CONFIGS, ResourceType.TOPIC)


HANDLER = for_members(ApiKey.PREVIEW_RETENTION, 0, 0, handle_preview_retention, _refused, others_may=_may_preview)
