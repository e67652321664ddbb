"""What is done to logs from time to time: due flushes, checkpoints, retention, compaction, freeing deleted files,
forgetting producers.

Decisions and owners' steps happen on the loop; whatever reads or writes much happens on a worker thread. Each chore has
its own rhythm, one that fails is logged and tried again at the next beat, and none runs beside itself.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future

from broker.common.clock import Clock
from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.common.troubles import Troubles
from broker.common.types import TopicPartition
from broker.config.broker import BrokerConfig
from broker.log.compaction.log_cleaner import LogCleaner
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.settings import CleanerSettings, CleaningStopped
from broker.log.manager import LogManager
from broker.log.retention import RetentionPlan, plan_retention, start_after
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager

_log = logger(__name__)


class Housekeeping:
    """The chores of one broker, from `start` to `stop`. `high_watermarks` tells those of all hosted partitions now."""

    def __init__(
        self,
        replicas: ReplicaManager,
        logs: LogManager,
        config: BrokerConfig,
        clock: Clock,
        high_watermarks: Callable[[], Mapping[TopicPartition, int]],
    ):
        self._high_watermarks = high_watermarks
        self._replicas = replicas
        self._logs = logs
        self._config = config
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self._retention_troubles = Troubles()
        #: Ends every pause: of a chore that is to stop, or to go by another rhythm.
        self._alarm = asyncio.Event()
        self._stopping = threading.Event()
        self._cleaner = LogCleaner(self._cleaner_settings())
        logs.on_cut, logs.uncleanable = self._cleaner.truncate, self._cleaner.uncleanable

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        config = self._config
        chores = {
            "log_flush_scheduler_interval_ms": self._flush_and_purge,
            "log_flush_offset_checkpoint_interval_ms": self._checkpoint,
            "replica_high_watermark_checkpoint_interval_ms": self._note_high_watermarks,
            "log_retention_check_interval_ms": self._retain,
            "producer_id_expiration_check_interval_ms": self._expire_producers,
        }
        if config.log_cleaner_enable:
            chores["log_cleaner_backoff_ms"] = self._compact
        self._tasks = [asyncio.create_task(self._every(interval, chore)) for interval, chore in chores.items()]

    async def stop(self) -> None:
        """Returns when no chore is at work any more: what has begun comes to its end, a pass of the cleaner soon.

        High watermarks are noted once more, as they are now.
        """
        self._stopping.set()
        self._alarm.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._note_high_watermarks()

    def reconfigure(self) -> None:
        """Run each chore at once and then at its newly configured interval.

        A pass of the cleaner that has begun ends as it began.
        """
        self._cleaner.settings = self._cleaner_settings()
        self._alarm.set()
        self._alarm = asyncio.Event()

    def _cleaner_settings(self) -> CleanerSettings:
        return CleanerSettings(
            clock=self._clock,
            on_owner=self._on_owner,
            sleep=self._stopping.wait,
            should_stop=self._stopping.is_set,
            offset_map_bytes=self._config.log_cleaner_dedupe_buffer_size,
            bytes_per_second=self._config.log_cleaner_io_max_bytes_per_second,
        )

    async def _every(self, interval: str, chore: Callable[[], Awaitable[None]]) -> None:
        """Run a chore. `interval` is the attribute of the configuration, which may change."""
        pause_ms = min(getattr(self._config, interval), self._config.log_initial_task_delay_ms)
        while not await self._is_over_after(pause_ms):
            try:
                await chore()
            except CleaningStopped:
                return
            except Exception:
                _log.exception("chore failed", chore=chore.__name__)
            pause_ms = getattr(self._config, interval)

    async def _is_over_after(self, pause_ms: int) -> bool:
        """Return whether the chores are to stop, asked after `pause_ms`, or earlier at an alarm."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause_ms / 1000):
                await self._alarm.wait()
        return self._stopping.is_set()

    # -- chores

    async def _flush_and_purge(self) -> None:
        def flush_and_purge() -> None:
            self._logs.flush_due(self._clock.monotonic_ms())
            self._logs.purge_segments(self._clock.monotonic_ms())

        await asyncio.to_thread(flush_and_purge)

    async def _checkpoint(self) -> None:
        def checkpoint() -> None:
            self._logs.checkpoint_recovery_points()
            self._logs.checkpoint_log_start_offsets()

        await asyncio.to_thread(checkpoint)

    async def _note_high_watermarks(self) -> None:
        await asyncio.to_thread(self._logs.store_high_watermarks, self._high_watermarks())

    async def _retain(self) -> None:
        """Let go of expired segments, once it is noted where their logs will start (one write a log directory): a start
        that misses other segments knows that they were lost. On a full disk they go without a note.
        """
        plans: list[tuple[HostedPartition, RetentionPlan]] = []
        for hosted in list(self._replicas):
            if not hosted.log.is_offline:
                with self._reporting_retention(hosted):
                    plans.append((hosted, await self._plan_retention(hosted)))
        starts = {
            hosted.partition.topic_partition: start
            for hosted, plan in plans
            if (start := start_after(plan, hosted.log.segments)) is not None and self._is_hosted(hosted)
        }
        if starts:
            await asyncio.to_thread(self._logs.note_retained_starts, starts)
        for hosted, plan in plans:
            with self._reporting_retention(hosted):
                hosted.log.apply(plan)
                self._retention_troubles.is_over(hosted.partition.topic_partition)

    def _is_hosted(self, hosted: HostedPartition) -> bool:
        """Return whether its log still is the partition's: a topic may have been made anew meanwhile."""
        return self._logs.get(hosted.partition.topic_partition) is hosted.log

    @contextlib.contextmanager
    def _reporting_retention(self, hosted: HostedPartition) -> Iterator[None]:
        """Report failures of retention. A failed log directory was reported before; a log that was closed meanwhile is
        no failure.
        """
        topic_partition = hosted.partition.topic_partition
        try:
            yield
        except ApiError as error:
            if hosted.log.is_offline:
                self._retention_troubles.is_over(topic_partition)
            elif self._retention_troubles.is_news(topic_partition, error.message, self._clock.monotonic_ms()):
                _log.warning("retention failed", partition=str(topic_partition), reason=error.message)

    async def _plan_retention(self, hosted: HostedPartition) -> RetentionPlan:
        facts = await asyncio.to_thread(hosted.log.retention_facts)
        plan = plan_retention(
            facts,
            hosted.log.config,
            hosted.log.log_start_offset,
            hosted.partition.high_watermark,
            self._clock.now_ms(),
        )
        if hosted.log.roll_expired(plan):
            await asyncio.to_thread(hosted.log.flush)
        return plan

    async def _expire_producers(self) -> None:
        for hosted in list(self._replicas):
            if hosted.log.is_lent:
                continue
            silence_ms_max = self._config.producer_id_expiration_ms
            expired = hosted.log.expire_producers(self._clock.monotonic_ms(), silence_ms_max)
            if expired:
                _log.info("producers forgotten", partition=str(hosted.partition.topic_partition), count=expired)
            await asyncio.sleep(0)

    async def _compact(self) -> None:
        """Compact in passes until no log is due.

        A pass drops records for later ones of their keys: those are on disk before it begins.
        """
        while True:
            await asyncio.to_thread(self._logs.flush_due, self._clock.monotonic_ms())
            compacted = [replica for replica in self._replicas if replica.log.config.is_compacted]
            targets = [_to_clean(item) for item in compacted if not (item.log.is_lent or item.log.is_being_copied)]
            if await asyncio.to_thread(self._cleaner.clean_filthiest, targets) is None:
                return

    def _on_owner(self, work: Callable[[], None]) -> None:
        """Run `work` on the loop, where logs are owned, and wait for it; called on the cleaner's thread."""
        done: Future[None] = Future()

        def run() -> None:
            if done.set_running_or_notify_cancel():
                try:
                    work()
                except BaseException as error:
                    done.set_exception(error)
                else:
                    done.set_result(None)

        self._loop.call_soon_threadsafe(run)
        done.result()


def _to_clean(hosted: HostedPartition) -> LogToClean:
    return LogToClean.of(
        hosted.partition.topic_partition,
        hosted.log,
        hosted.log.last_stable_offset(hosted.partition.high_watermark),
        hosted.log.last_offsets_of_producers,
    )
