"""Previews of retention for clients: one at a time on a thread of their own, bounded in time and memory.

A preview may read a whole log. It runs beside everything else of the broker, at the cleaner's rate; whoever asked and
went away stops it.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.limits import (
    PREVIEW_MS_MAX,
    PREVIEW_OFFSET_MAP_BYTES_MAX,
    PREVIEWS_IN_A_TURN,
    PREVIEWS_WAITING_MAX,
)
from broker.config.broker import BrokerConfig
from broker.config.topic import check_topic_configs
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.settings import CleanerSettings, CleaningStopped
from broker.log.config import LogConfig
from broker.log.preview import LogPreview, preview_log
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.topics.internal_topics import compacted
from broker.runtime.topics.topic_configs import TopicConfigs, log_config

#: How often a log is looked at anew because the cleaner, or retention itself, was at work on it meanwhile.
_TRIES = 3


class RetentionPreviews:
    """`close` when the broker stops."""

    def __init__(self, replicas: ReplicaManager, topic_configs: TopicConfigs, config: BrokerConfig, clock: Clock):
        self._replicas = replicas
        self._topic_configs = topic_configs
        self._config = config
        self._clock = clock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="preview")
        self._waiting = 0
        self._closing = threading.Event()

    def close(self) -> None:
        """Returns when no preview is made any more, which is soon."""
        self._closing.set()
        self._thread.shutdown(cancel_futures=True)

    async def config_with(self, topic: str, changes: Mapping[str, str | None]) -> LogConfig:
        """Return the topic's log configuration with `changes`, None for unset; ApiError for an invalid value."""
        overrides = {**await self._topic_configs.overrides(topic), **changes}
        set_ones = {name: text for name, text in overrides.items() if text is not None}
        check_topic_configs(set_ones)
        return log_config(compacted(topic, set_ones), self._config)

    def led_partitions(self, topic: str) -> list[int]:
        led = (replica.partition.topic_partition for replica in self._replicas if replica.partition.is_leader)
        return sorted(partition for name, partition in led if name == topic)

    def deadline_ms(self, timeout_ms: int) -> int:
        """Return the monotonic deadline of a request that begins now with this timeout."""
        return self._clock.monotonic_ms() + max(0, min(timeout_ms, PREVIEW_MS_MAX))

    async def preview(
        self, topic: str, partitions: Sequence[int], config: LogConfig, deadline_ms: int, *, with_compaction: bool
    ) -> list[LogPreview | ApiError]:
        """Preview each partition in order, or return its error: REQUEST_TIMED_OUT at the deadline or under too many
        requests. With compaction, which reads whole logs, others have the thread between two of them.
        """
        previews: list[LogPreview | ApiError] = []
        step = 1 if with_compaction else PREVIEWS_IN_A_TURN
        for first in range(0, len(partitions), step):
            some = partitions[first : first + step]
            previews += await self._preview_some(topic, some, config, deadline_ms, with_compaction)
        return previews

    async def _preview_some(
        self, topic: str, partitions: Sequence[int], config: LogConfig, deadline_ms: int, with_compaction: bool
    ) -> list[LogPreview | ApiError]:
        if self._waiting >= PREVIEWS_WAITING_MAX:
            why = f"{self._waiting} previews wait already; try later"
            return [ApiError(ErrorCode.REQUEST_TIMED_OUT, why) for _ in partitions]
        previews: dict[int, LogPreview | ApiError] = {}
        hosted: dict[int, HostedPartition] = {}
        for partition in partitions:
            try:
                hosted[partition] = self._replicas.leader_log(topic, partition)
            except ApiError as error:
                previews[partition] = error
        self._waiting += 1
        try:
            for tries_left in reversed(range(_TRIES)):
                seen = {partition: item.log.segments for partition, item in hosted.items()}
                outcomes = await self._on_thread(list(hosted.values()), config, deadline_ms, with_compaction)
                previews |= {
                    number: _preview_or_error(outcome) for number, outcome in zip(hosted, outcomes, strict=True)
                }
                again = {
                    partition: hosted[partition]
                    for (partition, segments), outcome in zip(seen.items(), outcomes, strict=True)
                    if isinstance(outcome, ApiError | FileNotFoundError) and segments != hosted[partition].log.segments
                }
                if not again or not tries_left:
                    break
                hosted = again
        finally:
            self._waiting -= 1
        return [previews[partition] for partition in partitions]

    async def _on_thread(
        self, hosted: Sequence[HostedPartition], config: LogConfig, deadline_ms: int, with_compaction: bool
    ) -> list[LogPreview | Exception]:
        """Return previews, or the errors raised, of each log."""
        if not hosted:
            return []
        targets: list[tuple[LogToClean, int] | ApiError] = [_target(item, config) for item in hosted]
        gone = threading.Event()

        def should_stop() -> bool:
            return gone.is_set() or self._closing.is_set() or self._clock.monotonic_ms() >= deadline_ms

        settings = self._settings(gone, should_stop)

        def look(target: tuple[LogToClean, int] | ApiError) -> LogPreview | Exception:
            if isinstance(target, ApiError):
                return target
            try:
                settings.refuse_if_stopping()
                return preview_log(*target, settings, with_compaction=with_compaction)
            except (ApiError, OSError, CleaningStopped) as error:
                return error

        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._thread, lambda: [look(target) for target in targets]
            )
        finally:
            gone.set()

    def _settings(self, gone: threading.Event, should_stop: Callable[[], bool]) -> CleanerSettings:
        return CleanerSettings(
            clock=self._clock,
            on_owner=_refuse,
            sleep=gone.wait,
            should_stop=should_stop,
            offset_map_bytes=min(self._config.log_cleaner_dedupe_buffer_size, PREVIEW_OFFSET_MAP_BYTES_MAX),
            bytes_per_second=self._config.log_cleaner_io_max_bytes_per_second,
        )


def _target(hosted: HostedPartition, config: LogConfig) -> tuple[LogToClean, int] | ApiError:
    """Return the log as it is now with its high watermark, or why it cannot be cleaned."""
    log, high_watermark = hosted.log, hosted.partition.high_watermark
    try:
        end, producers = log.last_stable_offset(high_watermark), log.last_offsets_of_producers
        return LogToClean.of(hosted.partition.topic_partition, log, end, producers, config), high_watermark
    except ApiError as error:
        return error


def _preview_or_error(outcome: LogPreview | Exception) -> LogPreview | ApiError:
    if isinstance(outcome, LogPreview | ApiError):
        return outcome
    if isinstance(outcome, OSError):
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log cannot be read: {outcome.strerror}")
    return ApiError(
        ErrorCode.REQUEST_TIMED_OUT,
        "the log is too large to preview in that time; allow more, or no compaction",
    )


def _refuse(_work: Callable[[], None]) -> None:
    raise InvariantViolation("a preview changes nothing")
