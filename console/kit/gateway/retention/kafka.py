"""What retention would delete, asked by our brokers' own API over the wire, in the console's words."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from broker.client.cluster import ClusterConnections
from broker.client.errors import ApiNotServed, BrokerUnreachable, LoginRefused
from broker.client.retention import PreviewQuestion, preview_retention
from broker.common.errors import ApiError, BarnabasError, ProtocolError, error_code_of
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.preview_retention import (
    DeletionReason,
    PreviewRetentionCompaction,
    PreviewRetentionPartitionResult,
    PreviewRetentionRequest,
    PreviewRetentionTopic,
    PreviewRetentionTopicResult,
)
from broker.security.membership import ClusterMembership
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import GatewayError, refusal, unanswered
from console.kit.gateway.retention.interface import EVERYTHING_GOES, DoomedSegment, PartitionRetention, RetentionView

#: A preview of compaction reads the log; what is not looked at by then is answered so.
PREVIEW_TIMEOUT_SECONDS = 8.0

_REASONS: dict[int, str] = {
    DeletionReason.LOG_START_OFFSET: "deleted records",
    DeletionReason.TIME: "retention.ms",
    DeletionReason.SIZE: "retention.bytes",
    DeletionReason.COMPACTION: "compaction",
}


class PreviewNotServedError(GatewayError):
    """The brokers are no Barnabas brokers: what retention would delete can only be estimated."""


#: Topics of one question: a broker answers them one after the other.
TOPICS_PER_QUESTION = 100


def ask_outlook(
    client: ClusterClient, topics: Collection[str], membership: ConsoleMembership, timeout_seconds: float
) -> dict[str, RetentionView]:
    """Return what retention alone would delete now, from each leader; partitions without one are missing.

    A broker that does not answer costs its own partitions. Raises GatewayError if none answers or none knows how.
    """
    views: dict[str, RetentionView] = {}
    with _cluster(client, membership, timeout_seconds) as cluster:
        addresses = [(broker.host, broker.port) for broker in cluster.describe_topics([]).brokers]
        silent = 0
        for address in addresses:
            try:
                for answer in _outlook_of(cluster, address, sorted(topics), membership()):
                    views[answer.name] = _joined(views.get(answer.name), answer)
            except (BrokerUnreachable, ProtocolError):
                cluster.forget(*address)
                silent += 1
        if silent == len(addresses):
            raise BrokerUnreachable("no broker answers")
    return views


def _outlook_of(
    cluster: ClusterConnections, address: tuple[str, int], topics: list[str], membership: ClusterMembership | None
) -> Iterator[PreviewRetentionTopicResult]:
    timeout_ms = int(PREVIEW_TIMEOUT_SECONDS * 1_000)
    for at in range(0, len(topics), TOPICS_PER_QUESTION):
        retention_topics = [
            PreviewRetentionTopic(name=topic, partitions=None, configs=[])
            for topic in topics[at:][:TOPICS_PER_QUESTION]
        ]
        request = PreviewRetentionRequest(topics=retention_topics, include_compaction=False, timeout_ms=timeout_ms)
        connection = cluster.connection(*address)
        answer = connection.ask(request, timeout_s=PREVIEW_TIMEOUT_SECONDS + 1, membership=membership)
        yield from (topic for topic in answer.topics if not topic.error_code and topic.partitions)


def _joined(known: RetentionView | None, answer: PreviewRetentionTopicResult) -> RetentionView:
    partitions = (*(known.partitions if known else ()), *(_partition(partition) for partition in answer.partitions))
    return RetentionView(
        answer.cleanup_policy,
        answer.retention_ms,
        answer.retention_bytes,
        tuple(sorted(partitions, key=lambda partition: partition.partition)),
    )


def ask_retention(
    client: ClusterClient,
    topic: str,
    configs: Mapping[str, str | None],
    membership: ConsoleMembership,
    timeout_seconds: float,
) -> RetentionView:
    """Raises GatewayError: refused, unreachable, or a cluster that does not know the question."""
    question = PreviewQuestion(topic, configs=configs, timeout_s=PREVIEW_TIMEOUT_SECONDS)
    with _cluster(client, membership, timeout_seconds) as cluster:
        answer = preview_retention(cluster, question, membership())
    return RetentionView(
        answer.cleanup_policy,
        answer.retention_ms,
        answer.retention_bytes,
        tuple(_partition(partition) for partition in answer.partitions),
    )


def ask_segments(
    client: ClusterClient, topic: str, partition: int, membership: ConsoleMembership, timeout_seconds: float
) -> PartitionRetention:
    """Return every segment of one partition, as if all were expired. Raises as `ask_retention`."""
    question = PreviewQuestion(topic, [partition], EVERYTHING_GOES, False, PREVIEW_TIMEOUT_SECONDS)
    with _cluster(client, membership, timeout_seconds) as cluster:
        answer = preview_retention(cluster, question, membership())
    return next(
        (_partition(partition) for partition in answer.partitions), PartitionRetention(partition, "nobody leads it")
    )


@contextmanager
def _cluster(
    client: ClusterClient, membership: ConsoleMembership, timeout_seconds: float
) -> Iterator[ClusterConnections]:
    """Yield connections; any network error inside is raised as GatewayError."""
    try:
        with client.cluster(timeout_seconds) as cluster:
            _require_preview(cluster)
            yield cluster
    except LoginRefused as error:
        membership.forget()
        raise GatewayError(str(error)) from error
    except ApiError as error:
        raise refusal(error.code, error.message or "") from error
    except BrokerUnreachable as error:
        raise unanswered(error) from error
    except ApiNotServed as error:
        raise PreviewNotServedError(
            "These brokers tell no client where segments begin: only Barnabas brokers do. "
            "The retention page estimates what goes from offsets by time."
        ) from error
    except BarnabasError as error:
        raise GatewayError(str(error)) from error


def _require_preview(cluster: ClusterConnections) -> None:
    """Raise ApiNotServed for brokers of another kind, before the secret is looked for that only members have."""
    served: list[bool] = []
    for address in cluster.brokers().values():
        try:
            served.append(ApiKey.PREVIEW_RETENTION in cluster.connection(*address).served)
        except (BrokerUnreachable, ProtocolError):
            cluster.forget(*address)
        if any(served):
            return
    if served:
        raise ApiNotServed("no broker of the cluster previews retention")


def _partition(answer: PreviewRetentionPartitionResult) -> PartitionRetention:
    if answer.error_code:
        return PartitionRetention(
            answer.partition_index, answer.error_message or error_code_of(answer.error_code).meaning
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
                segment.base_offset,
                segment.last_offset,
                segment.size_bytes,
                segment.max_timestamp if segment.max_timestamp >= 0 else None,
                _REASONS[segment.reason],
            )
            for segment in answer.segments
        ),
        compacted_records=None if answer.compaction is None else _compacted(answer.compaction),
    )


def _compacted(compaction: PreviewRetentionCompaction) -> int:
    return (
        compaction.records_superseded
        + compaction.records_expired
        + compaction.records_without_key
        + compaction.records_aborted
    )
