"""DeleteRecords at the leaders of many partitions, with an answer for each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from broker.client.errors import BrokerUnreachable
from broker.client.leaders import MOVED, Address, Leaders
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.common.types import TopicPartition
from broker.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic

#: Beyond what a leader waits for replicas, its answer is on its way so long.
_ON_ITS_WAY_S = 10.0


@dataclass(frozen=True, slots=True)
class DeletionResult:
    """The first offset left on every replica; or why nothing was deleted, or that the outcome is unknown."""

    low_watermark: int = -1
    error: ErrorCode = ErrorCode.NONE
    reason: str = ""


def delete_records(
    leaders: Leaders, before: Mapping[TopicPartition, int], *, timeout_s: float = 30.0
) -> dict[TopicPartition, DeletionResult]:
    """Forget what lies before these offsets (-1: all that is committed); where a leader has moved the next is asked.

    Raises ApiNotServed.
    """
    done = _delete(leaders, before, timeout_s)
    moved = {partition: before[partition] for partition, item in done.items() if item.error in MOVED}
    for partition in moved:
        leaders.forget(partition)
    return done | _delete(leaders, moved, timeout_s)


def _delete(
    leaders: Leaders, before: Mapping[TopicPartition, int], timeout_s: float
) -> dict[TopicPartition, DeletionResult]:
    done: dict[TopicPartition, DeletionResult] = {}
    led: dict[Address, list[TopicPartition]] = {}
    for partition in before:
        try:
            led.setdefault(leaders.address(partition), []).append(partition)
        except ApiError as error:
            done[partition] = DeletionResult(error=error.code, reason=error.message)
    for partitions in led.values():
        try:
            done |= _ask_leader(leaders, {partition: before[partition] for partition in partitions}, timeout_s)
        except BrokerUnreachable as error:
            leaders.forget(partitions[0], connection_broken=True)
            done |= dict.fromkeys(partitions, DeletionResult(error=ErrorCode.NETWORK_EXCEPTION, reason=str(error)))
    return done


def _ask_leader(
    leaders: Leaders, before: Mapping[TopicPartition, int], timeout_s: float
) -> dict[TopicPartition, DeletionResult]:
    connection = leaders.connection(next(iter(before)))
    request = DeleteRecordsRequest(topics=_topics(before.items()), timeout_ms=int(timeout_s * 1000))
    answer = connection.ask(request, timeout_s=timeout_s + _ON_ITS_WAY_S)
    return {
        TopicPartition(topic.name, partition.partition_index): _deletion(
            partition.low_watermark, error_code_of(partition.error_code)
        )
        for topic in answer.topics
        for partition in topic.partitions
    }


def _deletion(low_watermark: int, error: ErrorCode) -> DeletionResult:
    return DeletionResult(low_watermark, error, error.meaning if error else "")


def _topics(before: Iterable[tuple[TopicPartition, int]]) -> list[DeleteRecordsTopic]:
    topics: dict[str, list[DeleteRecordsPartition]] = {}
    for (topic, index), offset in before:
        topics.setdefault(topic, []).append(DeleteRecordsPartition(partition_index=index, offset=offset))
    return [DeleteRecordsTopic(name=name, partitions=partitions) for name, partitions in topics.items()]
