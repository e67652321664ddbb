"""The partitions led here whose topics are counted: what was appended to them becomes increments, each offset once.

A leader goes on where the one before had got to (`Positions`), by walking the log from there. What is walked is read
by a thread, a stretch at a time, with pauses so long that it costs a few hundredths of a core; who lags by more than a
quarter of an hour leaves a gap in what is told, which the verdict calls UNKNOWN.
"""

import asyncio
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from time import thread_time

from broker.audit.increment import BROKER, AuditTier, Increment
from broker.audit.reporter import SourceReporter
from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.cold_parts import ColdReadError
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.runtime.audit.append_count import AppendCount, AppendTimeCount, CountedRange, WindowMemory
from broker.runtime.audit.log_walk import Walked, walk
from broker.runtime.audit.positions import NOWHERE, Positions
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager

#: Whatever they are set to: brokers' own, the audit's, and those that hold settings.
UNCOUNTED = re.compile(r"__.*|_barnabas.*|barnabas\..*|_schemas|connect-(configs|offsets|status)")
#: Of all partitions led here together.
_OPEN_WINDOWS_MAX = 100_000
#: Of a log whose position nobody knows, or that has grown by more since: what is counted of the past.
_PAST_BYTES_MAX, _CATCH_UP_BYTES_MAX = 16 * 1024 * 1024, 1024 * 1024 * 1024
_WALK_BYTES = 1024 * 1024
#: A walk of one second is followed by so many of rest.
_REST_FACTOR = 40
#: A piece that could not be walked for so long is passed over.
_BEHIND_MS_MAX = 900_000

_log = logger(__name__)


@dataclass(slots=True)
class _CountedPartition:
    """One partition led here. All before `position` is told, and all before `noted` is known to whoever leads next."""

    hosted: HostedPartition
    count: AppendCount
    reporter: SourceReporter
    position: int = NOWHERE
    noted: int = NOWHERE
    #: Since when the oldest piece waits to be walked, by the monotonic clock.
    waits_since_ms: int | None = None
    #: The oldest piece as it was told, until it is acknowledged: it is told again under its id.
    pending: Increment | None = None

    @property
    def partition(self) -> TopicPartition:
        return self.hosted.partition.topic_partition

    @property
    def log_end(self) -> int:
        return self.hosted.log.log_end_offset

    @property
    def committed_end(self) -> int:
        """Below it nothing can be taken back, and every transaction is decided."""
        return self.hosted.log.last_stable_offset(self.hosted.partition.high_watermark)


class AppendAudit:
    """Counts from its creation on; `place`, `increments`, `arrived` and `commit` are called by one task, `walk_some` by
    another.
    """

    def __init__(self, replicas: ReplicaManager, positions: Positions, clock: Clock):
        self._positions = positions
        self._replicas = replicas
        self._clock = clock
        self._room = WindowMemory(_OPEN_WINDOWS_MAX)
        self._counted: dict[TopicPartition, _CountedPartition] = {}
        #: Partitions hosted here whose topics are counted, whoever leads them.
        self._asked_for: set[TopicPartition] = set()
        #: Set while anything is counted.
        self.is_at_work = asyncio.Event()
        replicas.on_role.append(self._follow)
        replicas.on_config.append(self._follow)

    def __len__(self) -> int:
        return len(self._counted)

    def waiting(self) -> list[TopicPartition]:
        """Return the partitions with counts not yet reported."""
        return [
            counted.partition
            for counted in self._counted.values()
            if not counted.count.is_all_reported(counted.log_end)
        ]

    @property
    def is_asked_for(self) -> bool:
        """Whether any topic that is hosted here is counted."""
        return bool(self._asked_for)

    # -- whom to count

    def _follow(self, hosted: HostedPartition) -> None:
        """Follow a partition's role and topic settings."""
        partition, config = hosted.partition.topic_partition, hosted.log.config
        known = self._counted.get(partition)
        if is_counted(partition.topic, config) and hosted.partition.state is not None:
            self._asked_for.add(partition)
        else:
            self._asked_for.discard(partition)
        if not hosted.partition.is_leader or partition not in self._asked_for:
            if known is not None:
                self._let_go(known)
            hosted.count = None
            return
        kind = AppendTimeCount if config.uses_append_time else AppendCount
        term = hosted.partition.leader_epoch
        if known is not None and known.hosted is hosted and known.count.term == term and type(known.count) is kind:
            return
        if known is not None:
            self._let_go(known)
        hosted.count = kind(hosted.log.log_end_offset, term, self._room)
        reporter = SourceReporter(AuditTier.APPENDED, BROKER, uuid.uuid4().hex)
        self._counted[partition] = _CountedPartition(hosted, hosted.count, reporter)
        self.is_at_work.set()

    def _let_go(self, counted: _CountedPartition) -> None:
        del self._counted[counted.partition]
        counted.count.let_go()
        counted.hosted.count = None
        if not self._counted:
            self.is_at_work.clear()

    async def place(self) -> None:
        """Learn where earlier leaders had got to. Raises BarnabasError."""
        new = [item for item in self._counted.values() if not item.count.is_placed]
        if not new:
            return
        positions = await self._positions.of({counted.partition: counted.hosted.topic_id for counted in new})
        for counted in new:
            if counted.partition in positions and self._is_current(counted):
                counted.count.begin_at(_beginning(counted.hosted.log, positions[counted.partition], counted.log_end))

    def _is_current(self, counted: _CountedPartition) -> bool:
        return self._counted.get(counted.partition) is counted

    # -- what is told

    def increments(self) -> Iterator[Increment]:
        """Yield one increment for each partition with something to report."""
        now_ms = self._clock.now_ms()
        for counted in list(self._counted.values()):
            piece = counted.count.to_tell(counted.hosted.partition.high_watermark)
            if piece is None:
                continue
            if counted.pending is None:
                counted.pending = counted.reporter.tell(
                    counted.partition,
                    piece.windows or {},
                    now_ms,
                    offsets=(piece.start, piece.end),
                    term=counted.count.term,
                    is_by_header=True,
                )
            yield counted.pending

    def arrived(self, increments: list[Increment]) -> None:
        """Note that these increments are in the audit topic."""
        for increment in increments:
            counted = self._counted.get(increment.chain.topic_partition)
            if counted is not None and counted.pending is increment:
                counted.count.piece_arrived()
                counted.pending, counted.position = None, increment.end

    def seal(self) -> None:
        for counted in self._counted.values():
            counted.count.seal(counted.log_end)

    async def commit(self) -> None:
        """Store the position from which the next leader continues. Raises BarnabasError."""
        new = [item for item in self._counted.values() if item.position != item.noted]
        if not new:
            return
        positions = {counted.partition: (counted.hosted.topic_id, counted.position) for counted in new}
        noted = await self._positions.commit(positions)
        for counted in new:
            if counted.partition in noted:
                counted.noted = positions[counted.partition][1]

    # -- what headers at the append did not tell

    async def walk_some(self) -> bool:
        """Walk a stretch of each log that has to be walked; return whether any got further."""
        has_walked = False
        for counted in list(self._counted.values()):
            piece = counted.count.to_walk()
            if piece is None:
                counted.waits_since_ms = None
                continue
            end = min(piece.end, counted.committed_end)
            if end > piece.start:
                has_walked |= await self._walk(counted, piece, end)
        return has_walked

    async def _walk(self, counted: _CountedPartition, piece: CountedRange, end: int) -> bool:
        now_ms = self._clock.monotonic_ms()
        if counted.waits_since_ms is None:
            counted.waits_since_ms = now_ms
        start = max(piece.start, counted.hosted.log.log_start_offset)
        walked, took_s = Walked({}, start, end), 0.0
        if start < end and now_ms - counted.waits_since_ms < _BEHIND_MS_MAX:
            try:
                walked, took_s = await self._walked(counted.hosted.log, start, end)
            except ApiError as error:
                if error.code is not ErrorCode.CORRUPT_MESSAGE:
                    return False  # of a disk or a cut: that may pass
                _log.warning("a part of a log is not counted", partition=str(counted.partition), reason=error.message)
        if self._is_current(counted) and counted.count.to_walk() is piece:
            if walked.go_on_at >= piece.end:
                counted.waits_since_ms = None
            counted.count.walked(CountedRange(start, walked.end, walked.windows), walked.go_on_at)
        await asyncio.sleep(_REST_FACTOR * took_s)
        return walked.go_on_at > piece.start

    async def _walked(self, log: Log, start: int, end: int) -> tuple[Walked, float]:
        """Walk the log from `start` to `end`; return the counts and the CPU seconds it took. Raises ApiError."""
        try:
            log.refuse_if_cold(start, _WALK_BYTES)
        except ColdReadError as cold:
            await self._replicas.logs.fetch([cold.part])
        log_slice = log.read(start, _WALK_BYTES, end)
        aborted = log.aborted_in(start, log_slice)

        def work() -> tuple[Walked, float]:
            began = thread_time()
            return walk(log_slice.read(), start, end, aborted), thread_time() - began

        return await asyncio.to_thread(work)


def is_counted(topic: str, config: LogConfig) -> bool:
    """Return whether the topic is counted; a compacted one is not, since no reader would find the same records."""
    return config.barnabas_audit_enable and not config.is_compacted and UNCOUNTED.fullmatch(topic) is None


def _beginning(log: Log, position: int, log_end_offset: int) -> int:
    """Return where to go on: a log that has grown too much since is counted from its end."""
    if position == NOWHERE:
        return log.log_start_offset if log.size_bytes <= _PAST_BYTES_MAX else log_end_offset
    start = max(position, log.log_start_offset)
    bytes_since = sum(segment.size_bytes for segment in log.segments if segment.base_offset > start)
    return start if bytes_since <= _CATCH_UP_BYTES_MAX else log_end_offset
