"""Copies a set of partitions until it is stopped: what was read goes to the target, positions follow, trouble is told.

Driven from outside by `step`, which takes half a second at most when all is well. What passes is waited for and told;
only Fenced ends it: somebody else copies these partitions now.
"""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from broker.client.cluster import ClusterConnections
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Leaders
from broker.common.errors import ApiError, BarnabasError, ErrorCode
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.mirror.audit import MirrorAudit
from broker.mirror.lane import Copied, Flow, MirrorLane, Refusal
from broker.mirror.ledger import MirrorLedger
from broker.mirror.place import again, look, resume, topic_id_of
from broker.mirror.producer import Fenced, WriteStopped
from broker.mirror.provenance import Provenance
from broker.mirror.reader import FetchRefusal, Portion, SourceReader
from broker.mirror.writer_pool import PoolWriter, WriterPool

_log = logger("broker.mirror")
_READ_S = 0.2
_PAUSE_S = 1.0
_FENCED_AGAIN_S, _FENCED_MAX = 60.0, 4
#: The producer is of no more use: its broker has forgotten it.
_FORGOTTEN = (ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)

Connect = Callable[[], ClusterConnections]


@dataclass(frozen=True)
class TaskSettings:
    flow: Flow
    #: Source partition → topic of the target.
    assigned: Mapping[TopicPartition, str]
    commit_interval_s: float
    #: Whether a partition begins where it ends when it is first seen; those of `later` are younger than the mirror.
    from_end: bool
    later: frozenset[TopicPartition] = frozenset()


class MirrorTask:
    """Runs on one thread, but for its reader and its writers. `audit`: receives counts of what was copied, if anything
    does; `on_wait`: called now and then while the target makes a `step` last.
    """

    def __init__(
        self,
        settings: TaskSettings,
        source: Connect,
        target: Connect,
        is_stopped: Callable[[], bool],
        audit: MirrorAudit | None = None,
        on_wait: Callable[[], None] = lambda: None,
    ):
        self._on_wait = on_wait
        self._settings, self._connect_source, self._connect_target = settings, source, target
        self._is_stopped, self._audit = is_stopped, audit
        self.copies = {
            partition: Copied(partition, TopicPartition(topic, partition.partition))
            for partition, topic in settings.assigned.items()
        }
        self._source: ClusterConnections | None = None
        self._target: ClusterConnections | None = None
        self._hands: WriterPool | None = None
        self._hand_of: dict[MirrorLane, PoolWriter] = {}
        self._lanes: dict[TopicPartition, MirrorLane] = {}
        self._retry_at: dict[TopicPartition, float] = {}
        self._save_at = 0.0
        self._fenced_at: list[float] = []
        self._reader = SourceReader(source, self._provenance)
        self._reader.start()
        #: Why nothing at all is copied; None when all is well.
        self._trouble: str | None = None

    def _provenance(self, cluster: ClusterConnections) -> Provenance:
        return Provenance(MirrorLedger(cluster), self._settings.flow.source_id)

    @property
    def trouble(self) -> str | None:
        return self._trouble or self._reader.trouble

    @property
    def slowness(self) -> str | None:
        """Why the target is slower than the source; None if it is not."""
        return self._hands.slowness if self._hands is not None else None

    def ends(self) -> Mapping[TopicPartition, int]:
        """Return the known end offsets of the source's partitions."""
        return self._reader.ends

    def step(self) -> None:
        """Raises Fenced."""
        self._do(self._copy)

    def save(self) -> None:
        """Store the positions, and commit the transaction with exactly_once. Raises Fenced."""
        self._do(lambda: self._save(is_idle=True))

    def _do(self, what: Callable[[], None]) -> None:
        try:
            if self._target is None:
                self._open()
            what()
            self._trouble = None
        except Fenced as error:
            self._begin_again(error)
        except WriteStopped:
            self._close_lanes()
        except (BarnabasError, OSError) as error:
            self._trouble = str(error)
            _log.warning("mirror begins again", flow=self._settings.flow.name, reason=str(error))
            self._close_lanes()
            time.sleep(0 if self._is_stopped() else _PAUSE_S)

    def _begin_again(self, fenced: Fenced) -> None:
        """Begin again after being fenced: a transaction may have taken too long, or its former owner ended late.
        Several times in a minute mean a second mirror of the same flow, one of which has to be stopped.
        """
        now = time.monotonic()
        self._fenced_at = [item for item in self._fenced_at if now - item < _FENCED_AGAIN_S] + [now]
        self._close_lanes()
        if len(self._fenced_at) > _FENCED_MAX:
            raise fenced
        _log.warning("mirror begins again", flow=self._settings.flow.name, reason=str(fenced))
        time.sleep(0 if self._is_stopped() else random.uniform(0, len(self._fenced_at)))

    def _open(self) -> None:
        self._target, self._source = self._connect_target(), self._connect_source()
        self._ledger = MirrorLedger(self._target)
        self._ledger.read_to_end(waits_for_open=False)
        copies = list(self.copies.values())
        parts = [[copy] for copy in copies] if self._settings.flow.exactly_once else [copies]
        self._hands = WriterPool(self._connect_target, len(parts), self._is_stopped)
        self._begin([self._lane(part) for part in parts])
        self._save_at = time.monotonic() + self._settings.commit_interval_s

    def _lane(self, copies: Iterable[Copied]) -> MirrorLane:
        assert self._hands is not None
        hand = self._hands.next()
        lane = MirrorLane(self._settings.flow, copies, self._ledger, hand.make_producer, audit=self._audit)
        self._hand_of[lane] = hand
        return lane

    def _begin(self, lanes: list[MirrorLane]) -> None:
        for lane in lanes:
            lane.fence()
        for lane in lanes:
            lane.begin()
            for copied in lane.copies.values():
                self._lanes[copied.source] = lane
                self._place(copied)

    def _place(self, copied: Copied) -> None:
        """Place the copy where it goes on; tried again later if the source does not answer."""
        assert self._source is not None
        assert self._target is not None
        self._retry_at.pop(copied.source, None)
        key = self._settings.flow.name, copied.source
        position = self._ledger.positions.get(key)
        if position is not None and position.target != copied.target.topic:
            position = None
        try:
            epoch = position.leader_epoch if position else -1
            copied.copy_id = topic_id_of(self._target, copied.target.topic)
            source = look(self._source, Leaders(self._source), copied.source, epoch)
        except (ApiError, BrokerUnreachable) as error:
            self._rest(copied, str(error))
            return
        from_end = self._settings.from_end and copied.source not in self._settings.later
        resumed = resume(position, source, from_end=from_end, copy_id=copied.copy_id)
        copied.topic_id = source.topic_id
        if position is not None and position.life is not None and position.life != copied.position.life:
            self._ledger.forget_runs(*key)
        elif copied.cut_at is not None and resumed.notice is None:
            resumed = again(self._ledger.runs(*key), copied.cut_at, source)
        if resumed.notice:
            _log.warning(
                "not where it was", flow=self._settings.flow.name, partition=str(copied.source), reason=resumed.notice
            )
        copied.notice = resumed.notice or copied.notice
        copied.error = None
        # Of a topic at rest the copy is known from now on, too, and where it was begun with.
        is_to_be_known = position is not None and position.copy_id is None and copied.copy_id is not None
        copied.is_moved = is_to_be_known or (position is None and from_end)
        copied.next_offset = resumed.offset
        copied.leader_epoch = position.leader_epoch if position and resumed.offset == position.next_offset else -1
        if self._audit is not None:
            self._audit.began(copied.source, resumed.offset)
        copied.runs = self._ledger.runs(*key)
        copied.turn = self._reader.seek(copied.source, resumed.offset, source.topic_id)

    def _rest(self, copied: Copied, reason: str) -> None:
        if copied.error != reason:
            _log.warning("partition rests", flow=self._settings.flow.name, partition=str(copied.source), reason=reason)
        copied.error = reason
        self._reader.rest(copied.source)
        self._retry_at[copied.source] = time.monotonic() + copied.backoff.fail()

    def _copy(self) -> None:
        by_lane: dict[int, tuple[MirrorLane, list[Portion]]] = {}
        reads = self._reader.next(_READ_S)
        for read in reads:
            copied = self.copies[read.partition]
            if read.turn != copied.turn:
                continue
            if isinstance(read, FetchRefusal):
                self._heed(copied, read)
                continue
            lane = self._lanes[read.partition]
            by_lane.setdefault(id(lane), (lane, []))[1].append(read)
        assert self._hands is not None
        jobs = [(self._hand_of[lane], partial(_written, lane, portions)) for lane, portions in by_lane.values()]
        for lane, refused in self._hands.do(jobs, self._on_wait):
            self._heed_target(lane, refused)
        self._save(is_idle=not reads)
        self._try_again()

    def _heed(self, copied: Copied, refused: FetchRefusal) -> None:
        """Note that the source refused a fetch: its offsets may have changed, or the topic was recreated."""
        lane = self._lanes[copied.source]
        if not lane.is_saved:
            lane.save()
        self._remember(copied)
        if refused.code in (ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.INCONSISTENT_TOPIC_ID):
            before = copied.next_offset
            self._place(copied)
            is_same = copied.error is None and copied.next_offset == before
            if is_same and refused.code is ErrorCode.OFFSET_OUT_OF_RANGE:
                self._rest(copied, refused.message)
        else:
            self._rest(copied, refused.message)

    def _remember(self, copied: Copied) -> None:
        self._ledger.positions[self._settings.flow.name, copied.source] = copied.position

    def _heed_target(self, lane: MirrorLane, refused: list[Refusal]) -> None:
        for refusal in refused:
            if refusal.code in _FORGOTTEN:
                raise refusal
            if self._settings.flow.exactly_once:
                lane.forget()
                self._begin([lane])
            else:
                self._remember(refusal.copied)
            self._rest(refusal.copied, str(refusal))

    def _save(self, *, is_idle: bool) -> None:
        if not is_idle and time.monotonic() < self._save_at:
            return
        assert self._hands is not None
        jobs = [(hand, partial(_saved, lane)) for lane, hand in self._hand_of.items() if not lane.is_saved]
        for moved in self._hands.do(jobs, self._on_wait):
            for copied in moved:
                self._remember(copied)
        self._save_at = time.monotonic() + self._settings.commit_interval_s

    def _try_again(self) -> None:
        now = time.monotonic()
        for partition in [item for item, at in self._retry_at.items() if at <= now]:
            self._place(self.copies[partition])

    def _close_lanes(self) -> None:
        """Close all lanes and connections. Records whose position is not stored are copied again by the next mirror."""
        for partition in self.copies:
            self._reader.rest(partition)
        self._lanes.clear()
        self._hand_of.clear()
        self._retry_at.clear()
        for copied in self.copies.values():
            copied.fresh, copied.is_moved, copied.turn = [], False, 0
        for cluster in (self._source, self._target, self._hands):
            if cluster is not None:
                cluster.close()
        self._source = self._target = self._hands = None

    def close(self) -> None:
        """Store the positions, if the target takes them, and close."""
        self._reader.stop()
        with suppress(BarnabasError, OSError):
            if self._hands is not None:
                self._save(is_idle=True)
        self._close_lanes()


def _written(lane: MirrorLane, portions: list[Portion]) -> tuple[MirrorLane, list[Refusal]]:
    return lane, lane.write(portions)


def _saved(lane: MirrorLane) -> list[Copied]:
    moved = [copied for copied in lane.copies.values() if copied.is_moved]
    lane.save()
    return moved
