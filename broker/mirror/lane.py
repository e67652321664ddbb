"""Partitions that are written by one producer, and how what was written is remembered.

At least once: one lane has all partitions of a task; positions follow the records. Exactly once: each partition has a
lane with a transactional id of its own, so that whoever begins with a partition fences whoever had it before, whatever
else both of them copy; records and position are one transaction. Records that have been in different clusters are
written by different producers, for that tells a mirror where they come from; with exactly_once the first one of a lane
tells of each further one in a transaction of its own, which a fenced mirror cannot end.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, Protocol
from uuid import UUID

from broker.common.backoff import Backoff
from broker.common.errors import ApiError, BarnabasError, ErrorCode
from broker.common.types import TopicPartition
from broker.mirror.audit import MirrorAudit
from broker.mirror.batches import Batch, CopiedRun, Copy
from broker.mirror.ledger import LEDGER, MirrorLedger
from broker.mirror.producer import SILENT_S, BatchWrite
from broker.mirror.provenance import Clusters
from broker.mirror.reader import Portion
from broker.mirror.records import (
    RINGS,
    RUNS_PER_RECORD,
    HistoryRecord,
    MirrorPosition,
    PositionRecord,
    ProducerRecord,
    Said,
    written,
)
from broker.mirror.runs import Runs
from broker.records.builder import build_batch
from broker.records.record import Record

#: Pauses before a partition is tried again that could not be read or written.
_RETRY_FIRST_S, _RETRY_MAX_S = 1.0, 10.0


class Refusal(BarnabasError):
    """The target does not take a batch of a partition; what was before it is there."""

    def __init__(self, copied: "Copied", error: ApiError):
        super().__init__(error.message)
        self.copied, self.code = copied, error.code


class LaneProducer(Protocol):
    """What a lane needs of `producer.BatchProducer`."""

    @property
    def producer_id(self) -> int: ...
    def write(
        self, batches: dict[TopicPartition, Sequence[Batch]], refused_s: float = ...
    ) -> dict[TopicPartition, BatchWrite]: ...
    def commit(self) -> None: ...
    def abort(self) -> None: ...


@dataclass(eq=False)
class Copied:
    """A partition of the source, its copy, and how far that is."""

    source: TopicPartition
    target: TopicPartition
    topic_id: UUID | None = None
    copy_id: UUID | None = None
    next_offset: int = -1
    leader_epoch: int = -1
    turn: int = 0
    #: The seconds that it is left alone after a failure; the copy's next records end that.
    backoff: Backoff = field(default_factory=lambda: Backoff(_RETRY_FIRST_S, _RETRY_MAX_S))
    #: Where the copy ended when it was seen to have lost records.
    cut_at: int | None = None
    #: Since the position was last remembered.
    fresh: list[CopiedRun] = field(default_factory=list)
    is_moved: bool = False
    runs: Runs = field(default_factory=Runs)
    history_at: dict[int, float] = field(default_factory=dict)
    history_from: dict[int, int] = field(default_factory=dict)
    records: int = 0
    bytes: int = 0
    skipped: int = 0
    timestamp: int = -1
    error: str | None = None
    notice: str | None = None

    @property
    def position(self) -> MirrorPosition:
        return MirrorPosition(self.next_offset, self.leader_epoch, self.topic_id, self.target.topic, self.copy_id)

    def require_behind(self, base_offset: int) -> None:
        """Raise Refusal if the copy lacks records copied before: it was recreated, or its cluster lost some."""
        newest = self.fresh[-1] if self.fresh else self.runs.newest
        if newest is not None and 0 <= base_offset < newest.target + newest.size:
            self.cut_at = base_offset
            lost = f"{self.target} ended at {base_offset}, before {newest.target + newest.size}"
            raise Refusal(self, ApiError(ErrorCode.UNKNOWN_TOPIC_ID, lost))

    def take(self, copy: Copy, base_offset: int) -> None:
        if base_offset >= 0:
            self.fresh.extend(copy.runs(base_offset))
        self.records += copy.size
        self.bytes += len(copy.batch)
        self.timestamp, self.cut_at = copy.max_timestamp, None
        self.backoff.succeed()
        self.pass_by(copy)

    def pass_by(self, copy: Copy) -> None:
        self.next_offset, self.leader_epoch, self.is_moved = copy.next_offset, copy.leader_epoch, True


class Flow(NamedTuple):
    """A mirror's flow: `SOURCE->TARGET`, the ids of both clusters, and whether in transactions."""

    name: str
    source_id: str
    target_id: str
    exactly_once: bool


class MirrorLane:
    """`make_producer(transactional id or None)`: who had the id before is fenced from then on."""

    def __init__(
        self,
        flow: Flow,
        copies: Iterable[Copied],
        ledger: MirrorLedger,
        make_producer: Callable[[str | None], LaneProducer],
        clock: Callable[[], float] = time.monotonic,
        audit: MirrorAudit | None = None,
    ):
        self._flow, self._ledger, self._make, self._clock = flow, ledger, make_producer, clock
        self._audit = audit
        self.copies = {copied.source: copied for copied in copies}
        self._own: Clusters = (flow.source_id,)
        self._producers: dict[Clusters, LaneProducer] = {}
        #: The clusters whose producer has a transaction open; None without one, and always with at least once.
        self._open: Clusters | None = None

    def fence(self) -> None:
        """Abort open transactions of earlier tasks, as far as possible without waiting, so that the ledger can be read
        to its end.
        """
        self._producers[self._own] = self._make(self._writer(self._own))
        self._fence_others()

    def begin(self) -> None:
        """Read the remembered state, after `fence` of all lanes of a task. Raises the target's errors."""
        self._ledger.read_to_end()
        self._fence_others()
        self._note_producer(self._own, self._producers[self._own])

    def _fence_others(self) -> None:
        """Fence producers of records that have been in other clusters, which the ledger names."""
        first = self._writer(self._own)
        if first is not None:
            for record in list(self._ledger.producers.values()):
                if record.writer and record.writer.startswith(f"{first}.") and record.clusters not in self._producers:
                    self._producers[record.clusters] = self._make(record.writer)

    def _writer(self, clusters: Clusters) -> str | None:
        """Return the transactional id that writes records from these clusters."""
        if not self._flow.exactly_once:
            return None
        (source,) = self.copies
        name = f"mirror.{self._flow.name}.{source}"
        if clusters == self._own:
            return name
        return f"{name}.{hashlib.sha256(repr(clusters).encode()).hexdigest()[:16]}"

    def _producer(self, clusters: Clusters) -> LaneProducer:
        if clusters not in self._producers:
            producer = self._make(self._writer(clusters))
            self._ledger.read_to_end(waits_for_open=False)
            self._note_producer(clusters, producer)
            self._producers[clusters] = producer
        return self._producers[clusters]

    def _note_producer(self, clusters: Clusters, producer: LaneProducer) -> None:
        """Note in the ledger which clusters a producer's records have been in, before it writes any."""
        record = ProducerRecord(producer.producer_id, clusters, self._writer(clusters))
        if self._ledger.producers.get(record.producer_id) != record:
            teller = self._producers.get(self._own, producer)
            self._write_ledger(teller, [record])
            teller.commit()

    def write(self, portions: Iterable[Portion]) -> list[Refusal]:
        """Write all portions, in the order of each partition; a refused one ends its partition's part."""
        refused: list[Refusal] = []
        left = [(self.copies[portion.partition], portion, _stretches(portion)) for portion in portions]
        while left:
            heads: dict[Clusters, dict[TopicPartition, tuple[Copied, list[Copy]]]] = {}
            further = []
            for copied, portion, stretches in left:
                stretch = next(stretches, None)
                if stretch is None:
                    copied.next_offset, copied.is_moved = portion.next_offset, True
                    continue
                heads.setdefault(stretch[0], {})[copied.target] = copied, stretch[1]
                further.append((copied, portion, stretches))
            for clusters, heads_of in heads.items():
                refused += self._write(clusters, heads_of)
            stopped = {refusal.copied for refusal in refused}
            left = [item for item in further if item[0] not in stopped]
        return refused

    def _write(self, clusters: Clusters, heads: dict[TopicPartition, tuple[Copied, list[Copy]]]) -> list[Refusal]:
        if self._flow.target_id in clusters:
            for copied, those in heads.values():
                for copy in those:
                    copied.skipped += copy.size
                    self._count(copied, copy, is_returning=True)
                    copied.pass_by(copy)
            return []
        if self._flow.exactly_once and self._open not in (None, clusters):
            self.save()
        producer = self._producer(clusters)
        if self._flow.exactly_once:
            self._open = clusters
        answers = producer.write({target: [copy.batch for copy in those] for target, (_, those) in heads.items()})
        refused = []
        for target, (copied, those) in heads.items():
            offsets, refusal = answers[target]
            try:
                copied.require_behind(offsets[0] if offsets else -1)
            except Refusal as lost:
                refused.append(lost)
                continue
            for copy, offset in zip(those, offsets, strict=False):
                copied.take(copy, offset)
                self._count(copied, copy)
            if refusal is not None:
                refused.append(Refusal(copied, refusal))
        return refused

    def _count(self, copied: Copied, copy: Copy, *, is_returning: bool = False) -> None:
        if self._audit is not None:
            self._audit.took(copied.source, copy, is_returning=is_returning)

    @property
    def is_saved(self) -> bool:
        return self._open is None and not any(copied.is_moved for copied in self.copies.values())

    def save(self) -> None:
        """Write how far the copies are, and commit the transaction that is open; abort one of which nothing was taken.

        Raises Fenced, ApiError, WriteStopped.
        """
        moved = [copied for copied in self.copies.values() if copied.is_moved]
        if not moved:
            self._abort_open()
            return
        producer = self._producer(self._open or self._own)
        if self._audit is not None:
            self._audit.tell({copied.source: copied.next_offset for copied in moved})
        records: list[Said] = []
        for copied in moved:
            for run in copied.fresh:
                copied.runs.add(run)
            fresh = tuple(copied.fresh[-RUNS_PER_RECORD:])
            records.append(PositionRecord(self._flow.name, copied.source, copied.position, fresh))
            records += self._history(copied)
        self._write_ledger(producer, records)
        producer.commit()
        for copied in moved:
            copied.fresh, copied.is_moved = [], False
        self._open = None

    def _history(self, copied: Copied) -> Iterator[HistoryRecord]:
        """Runs since the last one of each ring, at most so many, if it is time for one."""
        now = self._clock()
        for number, (every_s, slots) in enumerate(RINGS):
            if now < copied.history_at.get(number, -every_s) + every_s:
                continue
            copied.history_at[number] = now
            since = copied.history_from.get(number, 0)
            runs = copied.runs.since(since)
            if runs:
                copied.history_from[number] = runs[-1].source
                slot = f"{number}.{int(time.time() / every_s) % slots}"
                yield HistoryRecord(
                    self._flow.name,
                    copied.source,
                    slot,
                    tuple(Runs(runs).spread(RUNS_PER_RECORD)),
                    copied.position.life,
                )

    def forget(self) -> None:
        """Abort the transaction and forget the lane's state, which is invalid now."""
        self._abort_open()
        self._producers.clear()
        for copied in self.copies.values():
            copied.fresh, copied.is_moved = [], False

    def _abort_open(self) -> None:
        if self._open is not None:
            self._producers[self._open].abort()
            self._open = None

    def _write_ledger(self, producer: LaneProducer, records: Sequence[Said]) -> None:
        now_ms = int(time.time() * 1000)
        batch = build_batch([Record(0, now_ms, *written(item)) for item in records])
        refusal = producer.write({LEDGER: [batch]}, SILENT_S)[LEDGER].refusal
        if refusal is not None:
            raise refusal


def _stretches(portion: Portion) -> Iterator[tuple[Clusters, list[Copy]]]:
    """Yield runs of neighbouring records that have been in the same clusters."""
    for clusters, those in groupby(portion.copies, key=lambda copy: copy[1]):
        yield clusters, [copy for copy, _ in those]
