"""What a query on a cluster asks before it reads: which partitions there are, and the offsets of a position in them."""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Leaders
from broker.client.offsets import list_offsets
from broker.common.bounded_patterns import BoundedPattern, TooManyWays
from broker.common.errors import ApiError, ErrorCode
from broker.common.java.patterns import compile_pattern
from broker.common.logs import logger
from broker.common.types import IsolationLevel, TopicPartition
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from broker.spark.client_settings import cluster_of
from broker.spark.offsets import EARLIEST, LATEST, Offsets, resolve
from broker.spark.source_options import SourceOptions, StartPosition

#: How long the first offsets are asked for before a query fails to start.
START_TIMEOUT_S = 60.0
#: Seconds for one look at all partitions.
ANSWER_TIMEOUT_S = 5.0

_NO_RECORD = -1
_log = logger("broker.spark.source")

Result = TypeVar("Result")


class StreamOffsets:
    """Stream offsets of one subscription. Each method may raise ApiError and BrokerUnreachable, unless `patiently`
    calls it.
    """

    def __init__(self, options: SourceOptions):
        self._options = options
        self._cluster = cluster_of(options.client)

    def latest(self, *, leave_out_missing: bool = False) -> Offsets:
        """Return each partition's end for this reader: before the first open transaction with read_committed.

        With `leave_out_missing` topics that are not there have no partitions, instead of raising ApiError.
        """
        committed = self._options.client.committed_only
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        return self._at(dict.fromkeys(self.partitions(leave_out_missing), LATEST_TIMESTAMP), level)

    def of(self, position: StartPosition) -> Offsets:
        """Return the offsets of a position. ValueError for one that names other partitions, or a time without
        records.
        """
        if position.everywhere == EARLIEST:
            return self._at(dict.fromkeys(self.partitions(), EARLIEST_TIMESTAMP))
        latest = self.latest()
        if position.everywhere == LATEST:
            return latest
        if position.offsets is not None:
            return resolve(position.offsets, self._at(dict.fromkeys(latest, EARLIEST_TIMESTAMP)), latest)
        if position.times is not None:
            resolve(position.times, {}, latest)
            return self._at_times(position.times, latest, late_is_latest=position.late_is_latest)
        assert position.time_ms is not None, "a position names offsets, times or one time"
        times = dict.fromkeys(latest, position.time_ms)
        return self._at_times(times, latest, late_is_latest=position.late_is_latest)

    def partitions(self, leave_out_missing: bool = False) -> list[TopicPartition]:
        subscription = self._options.subscription
        assigned = set(subscription.partitions)
        if subscription.pattern:
            topics: Sequence[str] = self._matching(subscription.pattern)
            leave_out_missing = True
        else:
            topics = sorted({topic for topic, _ in assigned}) or subscription.topics
        there = [item for topic in topics for item in self._partitions_of(topic, leave_out_missing)]
        missing = sorted(assigned.difference(there))
        if missing and not leave_out_missing:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {missing[0]}")
        return [partition for partition in there if not assigned or partition in assigned]

    def _partitions_of(self, topic: str, leave_out_missing: bool) -> list[TopicPartition]:
        try:
            return Leaders(self._cluster).partitions(topic)
        except ApiError as error:
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and leave_out_missing:
                return []
            raise

    def _matching(self, pattern: str) -> list[str]:
        described = self._cluster.describe_topics(None).topics
        names = (topic.name for topic in described if topic.name is not None and not topic.is_internal)
        return sorted(name for name in names if _matches(pattern, name))

    def _at(
        self, question: dict[TopicPartition, int], level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    ) -> Offsets:
        return list_offsets(Leaders(self._cluster), question, level, ANSWER_TIMEOUT_S)

    def _at_times(self, times: dict[TopicPartition, int], latest: Offsets, *, late_is_latest: bool) -> Offsets:
        offsets = self._at(times)
        late = sorted(partition for partition, offset in offsets.items() if offset == _NO_RECORD)
        if late and not late_is_latest:
            raise ValueError(
                f"{late[0]} has no record at or after {times[late[0]]}; set startingOffsetsByTimestampStrategy=latest "
                "to begin at its end"
            )
        return offsets | {partition: latest[partition] for partition in late}


@lru_cache(maxsize=8)
def _bounded(pattern: str) -> BoundedPattern:
    return BoundedPattern(compile_pattern(pattern), pattern)


def _matches(pattern: str, topic: str) -> bool:
    """Return whether the topic matches; a name that takes too long to match is left out, and holds up no query."""
    try:
        return _bounded(pattern).fullmatch(topic) is not None
    except TooManyWays as error:
        _log.warning("topic not read", topic=topic, reason=str(error))
        return False


def patiently(ask: Callable[[], Result], what: object) -> Result:
    """Return what `ask` returns, waiting up to START_TIMEOUT_S for missing brokers and topics."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            return ask()
        except (ApiError, BrokerUnreachable) as error:
            if isinstance(error, ApiError) and not error.code.retriable:
                raise
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}: {error}") from error
            time.sleep(1)
