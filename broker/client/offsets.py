"""The offset in a partition that belongs to a moment: the first, the next, or the first of a time; its leader knows."""

import time
from collections.abc import Mapping

from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Leaders
from broker.common.errors import ApiError, error_code_of
from broker.common.types import IsolationLevel, TopicPartition
from broker.protocol.messages.list_offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

#: For who may not know the protocol's messages.
EARLIEST, LATEST = EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
_PAUSE_S = 0.1


def list_offsets(
    leaders: Leaders,
    question: Mapping[TopicPartition, int],
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    timeout_s: float = 5.0,
) -> dict[TopicPartition, int]:
    """Return for each partition the offset of its timestamp, which is in milliseconds or a constant of `list_offsets`.

    -1 where no record is that new. READ_COMMITTED answers the end before the first open transaction. Leaders that have
    moved are looked for until `timeout_s` is over; then ApiError or BrokerUnreachable says why the last try failed.
    """
    deadline = time.monotonic() + timeout_s
    offsets: dict[TopicPartition, int] = {}
    while True:
        missing = {partition: at for partition, at in question.items() if partition not in offsets}
        failure = _ask_leaders(leaders, missing, isolation, offsets)
        if failure is None:
            return offsets
        if time.monotonic() > deadline or (isinstance(failure, ApiError) and not failure.code.retriable):
            raise failure
        time.sleep(_PAUSE_S)


def _ask_leaders(
    leaders: Leaders,
    question: Mapping[TopicPartition, int],
    isolation: IsolationLevel,
    offsets: dict[TopicPartition, int],
) -> ApiError | BrokerUnreachable | None:
    """Ask leaders and fill `offsets`; return an error that prevented it, if any."""
    failure: ApiError | BrokerUnreachable | None = None
    try:
        for led in leaders.by_address(question).values():
            failure = (
                _ask_leader(leaders, {partition: question[partition] for partition in led}, isolation, offsets)
                or failure
            )
    except (ApiError, BrokerUnreachable) as error:
        return error
    return failure


def _ask_leader(
    leaders: Leaders,
    question: Mapping[TopicPartition, int],
    isolation: IsolationLevel,
    offsets: dict[TopicPartition, int],
) -> ApiError | BrokerUnreachable | None:
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for (topic, index), at in question.items():
        topics.setdefault(topic, []).append(ListOffsetsPartition(partition_index=index, timestamp=at))
    request = ListOffsetsRequest(
        isolation_level=isolation,
        topics=[ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in topics.items()],
    )
    some = next(iter(question))
    try:
        response = leaders.connection(some).ask(request)
    except BrokerUnreachable as error:
        leaders.forget(some, connection_broken=True)
        return error
    failure = None
    for answered in response.topics:
        for partition_response in answered.partitions:
            partition = TopicPartition(answered.name, partition_response.partition_index)
            if partition_response.error_code:
                failure = ApiError(
                    error_code_of(partition_response.error_code),
                    f"{partition}: {error_code_of(partition_response.error_code).meaning}",
                )
                leaders.forget(partition)
            else:
                offsets[partition] = partition_response.offset
    return failure
