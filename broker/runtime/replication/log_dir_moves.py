"""Moves replicas between the log directories of this broker (AlterReplicaLogDirs, KIP-113).

What a move is on disk is told in `log/future_logs`. Here the copies are filled: all that go to one directory take
turns, LOG_COPY_BYTES each, read at the log's owner and written by a thread, within the rate of
replica.alter.log.dirs.io.max.bytes.per.second. Roles, appends, fetches, cuts and retention go on meanwhile; compaction
of the log waits. The last bit is copied, and the exchange made, in one callback of the loop: nobody is refused anything
for it.

A partition that is not hosted just now, or whose log is being cut or offline, waits. Moves go on after a restart.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import LOG_COPY_BYTES, LOG_COPY_REST_BYTES_MAX
from broker.common.logs import logger
from broker.common.troubles import Troubles
from broker.common.types import TopicPartition
from broker.config.broker import BrokerConfig
from broker.config.topic import ALL_REPLICAS
from broker.log.cold_parts import ColdReadError
from broker.log.directory import LogDirectory
from broker.log.hosted_logs import FutureLog
from broker.log.log import Log
from broker.log.log_slice import LogSlice
from broker.log.manager import LogManager
from broker.replication.log_dir_move import NOTHING, EpochStart, LogDirMoveStep, MovedExtent, next_step, shared_end
from broker.replication.throttle import ReplicationThrottle
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager

T = TypeVar("T")

#: Before moves that could not go on are looked at again.
_LOOK_AGAIN_S = 0.25

_log = logger(__name__)


class LogDirMoves:
    """Moves logs from `start` to `stop`."""

    def __init__(self, replicas: ReplicaManager, logs: LogManager, config: BrokerConfig, clock: Clock):
        self._replicas = replicas
        self._logs = logs
        self._config = config
        self._clock = clock
        self._throttle = ReplicationThrottle(config.broker_id, config.replica_alter_log_dirs_io_max_bytes_per_second)
        self._lanes: dict[LogDirectory, asyncio.Task[None]] = {}
        #: The log each copy was last compared with, and how often that had been cut then.
        self._compared: dict[TopicPartition, tuple[Log, int]] = {}
        self._troubles = Troubles()
        self._is_over = False
        #: Called when a log has changed its directory: it may be in a full one now, or was.
        self.on_moved: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Resume the moves that an earlier process had begun."""
        for future in self._logs.futures.values():
            self._work_on(future.home)

    async def stop(self) -> None:
        """Stop the moves; copies stay as they are."""
        self._is_over = True
        for lane in self._lanes.values():
            lane.cancel()
        await asyncio.gather(*self._lanes.values(), return_exceptions=True)
        await self._replicas.logs.copies.idle()

    def reconfigure(self) -> None:
        rate = self._config.replica_alter_log_dirs_io_max_bytes_per_second
        self._throttle.set_rate(rate, self._clock.monotonic_ms())

    # -- what is asked

    async def alter(self, partition: TopicPartition, path: str) -> None:
        """Move the partition's log to the log directory `path`, or create it there; the current directory ends a move.
        Raises ApiError: LOG_DIR_NOT_FOUND, KAFKA_STORAGE_ERROR, INVALID_TOPIC_EXCEPTION, UNKNOWN_TOPIC_OR_PARTITION
        if it is not here.
        """
        await self._replicas.taking_roles.to_the_end(partial(self._alter, partition, path))

    async def _alter(self, partition: TopicPartition, path: str) -> None:
        directory = self._logs.directory_at(path)
        directory.path_of_future(partition)
        home, future = self._logs.home_of(partition), self._logs.future_of(partition)
        if home is None and not self._logs.is_out_of_reach(partition):
            self._logs.prefer(partition, directory)
        if (hosted := self._replicas.get(*partition)) is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{partition} is not here")
        if home is None or home.offline_reason is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log of {partition} is offline")
        if future is not None and future.home is not directory:
            await self._give_up(partition, future)
        if self._logs.future_of(partition) is None and self._logs.home_of(partition) is not directory:
            await self._begin(partition, hosted, directory)

    async def _begin(self, partition: TopicPartition, hosted: HostedPartition, directory: LogDirectory) -> None:
        if self._logs.offline_directories:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "no log is moved while a log directory is offline")
        make = partial(self._logs.make_future, partition, directory, hosted.log.config)
        await self._replicas.logs.copies.begin(partition, directory.path, make)
        self._work_on(directory)
        _log.info("log is moved", partition=str(partition), to=str(directory.path))

    async def _give_up(self, partition: TopicPartition, future: FutureLog) -> None:
        """Raises ApiError(KAFKA_STORAGE_ERROR) if its disk hangs."""
        if await self._replicas.logs.copies.ended([partition]):
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the copy of {partition} is at a disk that hangs")
        drop = partial(self._logs.drop_future, partition)
        await self._replicas.logs.copies.begin(partition, future.home.path, drop)
        self._over(partition)
        self._replicas.logs.purge_soon()
        _log.info("move of a log given up", partition=str(partition), to=str(future.home.path))

    def _over(self, partition: TopicPartition) -> None:
        self._compared.pop(partition, None)
        self._troubles.is_over(partition)

    # -- turns

    def _work_on(self, directory: LogDirectory) -> None:
        lane = self._lanes.get(directory)
        if not self._is_over and (lane is None or lane.done()):
            self._lanes[directory] = asyncio.get_running_loop().create_task(self._work(directory))

    async def _work(self, directory: LogDirectory) -> None:
        """Copy until no copy in the directory is left to do."""
        while partitions := [item for item, future in self._logs.futures.items() if future.home is directory]:
            went_on = [await self._turn_of(partition) for partition in partitions]
            if not any(went_on):
                await asyncio.sleep(_LOOK_AGAIN_S)

    async def _turn_of(self, partition: TopicPartition) -> bool:
        """Return whether it came any further."""
        future = self._logs.future_of(partition)
        if future is None:
            self._over(partition)
            return True
        try:
            went_on = await self._turn(partition, future)
            self._troubles.is_over(partition)
            return went_on
        except ApiError as error:
            is_still_wanted = self._logs.future_of(partition) is future
            if is_still_wanted and self._troubles.is_news(partition, error.message, self._clock.monotonic_ms()):
                _log.warning("log cannot be moved yet", partition=str(partition), reason=error.message)
        except Exception:
            if not future.log.is_offline:
                _log.exception("log cannot be moved yet", partition=str(partition))
        return False

    async def _turn(self, partition: TopicPartition, future: FutureLog) -> bool:
        if future.home.offline_reason is not None:
            await self._give_up(partition, future)
            return True
        hosted = self._replicas.get(*partition)
        if hosted is None or hosted.log.is_offline or future.log.is_offline:
            return False
        log, copy = hosted.log, future.log
        copy.config = log.config
        if (log, log.cuts_count) != self._compared.get(partition):
            await self._compare(partition, log, future)
            return True
        if await self._must_wait_for_disk(log, copy.log_end_offset):
            return True
        missing = self._missing(log, copy)
        bytes_missing = _bytes_missing(log, copy, missing)
        extents = (
            MovedExtent(log.log_start_offset, log.log_end_offset),
            MovedExtent(copy.log_start_offset, copy.log_end_offset),
        )
        match next_step(*extents, bytes_missing, LOG_COPY_REST_BYTES_MAX):
            case LogDirMoveStep.START_OVER:
                start = partial(copy.truncate_fully_and_start_at, log.log_start_offset)
                await self._do(partition, future, start)
            case LogDirMoveStep.COPY:
                assert missing is not None  # a copy that ends outside of the log starts over
                return await self._copy(partition, future, missing)
            case LogDirMoveStep.EXCHANGE:
                assert missing is not None
                await self._exchange(partition, hosted, future, missing)
        return True

    async def _compare(self, partition: TopicPartition, log: Log, future: FutureLog) -> None:
        """Compare the copy with the log after a truncation or a start: it keeps what both have."""
        copy, count = future.log, log.cuts_count
        shared = shared_end(
            [EpochStart(*entry) for entry in log.leader_epochs.entries],
            log.log_end_offset,
            [EpochStart(*entry) for entry in copy.leader_epochs.entries],
            copy.log_end_offset,
        )
        if shared == NOTHING and copy.size_bytes:
            await self._do(partition, future, partial(copy.truncate_fully_and_start_at, log.log_start_offset))
        elif shared != NOTHING and shared < copy.log_end_offset:
            await self._do(partition, future, partial(copy.truncate_to, shared))
        self._throttle.set_topic(partition.topic, ALL_REPLICAS)
        self._compared[partition] = (log, count)

    async def _must_wait_for_disk(self, log: Log, offset: int) -> bool:
        """Return whether anything has changed while a thread read what is to be copied next, if that was necessary."""
        count = log.cuts_count
        try:
            log.refuse_if_cold(offset, LOG_COPY_BYTES)
        except ColdReadError as cold:
            await self._replicas.logs.fetch([cold.part])
        return log.is_offline or log.cuts_count != count

    def _missing(self, log: Log, copy: Log) -> LogSlice | None:
        """Return the next slice of the log that the copy lacks, None if the copy does not end within the log. Raises
        ApiError.
        """
        if not log.log_start_offset <= copy.log_end_offset <= log.log_end_offset:
            return None
        return log.read(copy.log_end_offset, LOG_COPY_BYTES, log.log_end_offset)

    async def _copy(self, partition: TopicPartition, future: FutureLog, log_slice: LogSlice) -> bool:
        if not self._throttle.allowed(partition, log_slice.length, self._clock.monotonic_ms(), is_in_sync=False):
            return False
        await self._do(partition, future, partial(_write, future.log, log_slice, self._clock.now_ms()))
        self._throttle.moved(partition, log_slice.length, self._clock.monotonic_ms())
        return True

    async def _do(self, partition: TopicPartition, future: FutureLog, work: Callable[[], T]) -> T:
        return await self._replicas.logs.copies.begin(partition, future.home.path, work)

    # -- the end

    async def _exchange(
        self, partition: TopicPartition, hosted: HostedPartition, future: FutureLog, log_slice: LogSlice
    ) -> None:
        """Exchange the copy for the log if little comes meanwhile; else that is copied first, and it is tried again.

        flush.messages promises an fsync before the answer: while this goes on none is begun, so that the copy, fsynced
        before the exchange, lacks nothing that producers were promised.
        """
        log, home, flushes = hosted.log, self._logs.home_of(partition), self._replicas.logs.flushes
        assert home is not None  # of a log that is served
        await flushes.hold(log)
        try:
            await self._do(partition, future, self._preparation(partition, hosted, future, log_slice))
            is_exchanged = self._exchange_now(partition, hosted, future)
        finally:
            flushes.release(partition, log, hosted.log)
        if is_exchanged:
            self._over(partition)
            await self._do(partition, future, partial(self._logs.finish_replacement, partition, log, home))
            self._replicas.logs.purge_soon()
            self.on_moved()
            _log.info("log was moved", partition=str(partition), to=str(future.home.path))

    def _preparation(
        self, partition: TopicPartition, hosted: HostedPartition, future: FutureLog, log_slice: LogSlice
    ) -> Callable[[], None]:
        log, copy, now_ms = hosted.log, future.log, self._clock.now_ms()
        log_end_offset, high_watermark = log.log_end_offset, hosted.partition.high_watermark
        epochs = log.leader_epochs.entries

        def prepare() -> None:
            if log_slice.length:
                _write(copy, log_slice, now_ms)
            elif copy.log_end_offset < log_end_offset:
                copy.end_at(log_end_offset)
            copy.take_over_epochs(epochs)
            self._logs.prepare_replacement(partition, high_watermark)

        return prepare

    def _exchange_now(self, partition: TopicPartition, hosted: HostedPartition, future: FutureLog) -> bool:
        """Return whether the copy is the log now. In one callback: nothing is appended, cut or let go of meanwhile."""
        log, copy = hosted.log, future.log
        is_known = self._replicas.get(*partition) is hosted and self._logs.future_of(partition) is future
        is_cut = (log, log.cuts_count) != self._compared.get(partition)
        if not is_known or is_cut or log.is_offline or copy.is_offline or not self._copy_rest(log, copy):
            return False
        if copy.recovery_point < log.recovery_point or not self._logs.is_start_noted_of_future(partition):
            return False
        copy.config = log.config
        copy.follow_log_start(log.log_start_offset)
        copy.begin_leader_epoch(log.leader_epochs.latest_epoch)
        hosted.log = self._logs.replace_by_future(partition)
        hosted.log.note_committed(hosted.partition.high_watermark)
        return True

    def _copy_rest(self, log: Log, copy: Log) -> bool:
        """Return whether the copy holds all the log does; not if that was much."""
        bytes_left = LOG_COPY_REST_BYTES_MAX
        while copy.log_end_offset < log.log_end_offset:
            rest = self._missing(log, copy)
            if rest is None or not 0 < rest.length <= bytes_left:
                return False
            bytes_left -= rest.length
            _write(copy, rest, self._clock.now_ms())
        return True


def _bytes_missing(log: Log, copy: Log, log_slice: LogSlice | None) -> int:
    """Return how many bytes the copy still lacks. A slice ends with its segment: before the last segment more
    follows.
    """
    if log_slice is None or not log_slice.length:
        return 0
    is_last = copy.log_end_offset >= log.segments[-1].base_offset
    return log_slice.length if is_last else max(log_slice.length, LOG_COPY_BYTES)


def _write(copy: Log, log_slice: LogSlice, now_ms: int) -> None:
    copy.append_as_follower(memoryview(log_slice.read()), now_ms)
