"""What a reader of committed records sees, against a list: random transactions, markers, fail-overs, cuts, restarts,
deletions and compaction, on a leader and its follower. The reader does what Kafka's Java consumer does.
"""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log.compaction.cleaner import CleanerPass
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.plan import plan_compaction
from broker.log.compaction.settings import CleanerSettings
from broker.log.compaction.swap import finish_swaps
from broker.log.config import LogConfig
from broker.log.log import AppendResult, Log
from broker.records.batch import NO_PRODUCER_ID, iterate_headers
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker, parse_marker
from broker.records.record import Record, decode_records
from tests.examples import examples
from tests.manual_clock import ManualClock

CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=100, min_cleanable_dirty_ratio=0.0, delete_retention_ms=100)
PRODUCERS = [NO_PRODUCER_ID, 7, 8, 9]
KEYS = [b"a", b"b", b"c", b"d", b"e"]


class Written(NamedTuple):
    """One batch, as it was handed to the leader; a marker has no keys."""

    base_offset: int
    producer_id: int
    keys: tuple[bytes, ...]
    is_transactional: bool
    marker: MarkerType | None = None

    @property
    def next_offset(self) -> int:
        return self.base_offset + max(1, len(self.keys))


@dataclass
class Replica:
    log: Log
    #: Its log began there, and holds no batch that ends before.
    base_offset: int = 0
    #: Ended transactions whose markers are not committed are not remembered over a restart.
    has_restarted: bool = False
    is_compacted: bool = False


@dataclass
class Naive:
    """The committed records of a replica, found by looking at all that was written."""

    written: list[Written]
    replica: Replica
    high_watermark: int
    first_undecided: int = field(init=False)
    first_open: int = field(init=False)
    outcomes: dict[int, MarkerType] = field(default_factory=dict)

    def __post_init__(self):
        log = self.replica.log
        self.first_undecided = self.first_open = self.high_watermark
        open_batches: dict[int, list[Written]] = {}
        for partition in self.written:
            if partition.next_offset <= self.replica.base_offset or partition.base_offset >= log.log_end_offset:
                continue
            if partition.marker is None and partition.is_transactional:
                open_batches.setdefault(partition.producer_id, []).append(partition)
            elif partition.marker is not None and (ended := open_batches.pop(partition.producer_id, [])):
                self.outcomes |= {batch.base_offset: partition.marker for batch in ended}
                if partition.base_offset >= self.high_watermark:
                    self.first_undecided = min(self.first_undecided, ended[0].base_offset)
        for batches in open_batches.values():
            self.first_open = min(self.first_open, batches[0].base_offset)
        start = log.log_start_offset
        self.first_open = min(max(self.first_open, start), self.high_watermark)
        self.first_undecided = min(max(self.first_undecided, start), self.first_open)

    def records(self, from_offset: int, end_offset: int) -> list[tuple[int, bytes]]:
        """(offset, key)"""
        return [
            (partition.base_offset + index, key)
            for partition in self.written
            if partition.next_offset > self.replica.base_offset and partition.marker is None
            if not partition.is_transactional or self.outcomes.get(partition.base_offset) is MarkerType.COMMIT
            for index, key in enumerate(partition.keys)
            if from_offset <= partition.base_offset + index < end_offset
        ]


def consume(log: Log, fetch_offset: int, end_offset: int, max_bytes: int) -> list[tuple[int, bytes]]:
    """(offset, key) of what a consumer hands out that is told of aborted transactions with each answer."""
    consumed = []
    while (log_slice := log.read(fetch_offset, max_bytes, end_offset)).length:
        aborted_transactions = sorted(
            log.aborted_in(fetch_offset, log_slice), key=lambda partition: partition.first_offset
        )
        data, aborted = log_slice.read(), set()
        for at, header in iterate_headers(data):
            batch = data[at : at + header.size_bytes]
            while aborted_transactions and aborted_transactions[0].first_offset <= header.last_offset:
                aborted.add(aborted_transactions.pop(0).producer_id)
            if header.is_control:
                marker = parse_marker(batch)
                if marker is not None and marker.type is MarkerType.ABORT:
                    aborted.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in aborted):
                records = decode_records(batch)
                consumed += [(record.offset, record.key) for record in records if record.offset >= fetch_offset]
            next_offset = header.next_offset
        fetch_offset = next_offset
    return consumed


class ReadersAgainstList(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="barnabas-committed-"))
        self.clock = ManualClock()
        self.leader = Replica(Log.open(self.root / "a" / "t-0", CONFIG))
        self.follower = Replica(Log.open(self.root / "b" / "t-0", CONFIG))
        self.written: list[Written] = []
        self.high_watermark = 0
        self.epoch = 0

    def teardown(self):
        for replica in (self.leader, self.follower):
            replica.log.close()
        shutil.rmtree(self.root)

    @initialize()
    def begin(self):
        self.leader.log.begin_leader_epoch(0)

    def committed(self, replica: Replica) -> int:
        """A follower hears of the high watermark with what it fetches."""
        return min(self.high_watermark, replica.log.log_end_offset)

    def is_open(self, producer_id: int) -> bool:
        is_open = False
        for item in self.written:
            if item.producer_id == producer_id and item.is_transactional:
                is_open = item.marker is None
        return is_open

    def next_sequence(self, producer_id: int) -> int:
        return sum(len(item.keys) for item in self.written if item.producer_id == producer_id)

    # -- the leader

    @rule(
        producer_id=st.sampled_from(PRODUCERS),
        keys=st.lists(st.sampled_from(KEYS), min_size=1, max_size=3),
        is_transactional=st.booleans(),
    )
    def produce(self, producer_id, keys, is_transactional):
        is_ours = producer_id != NO_PRODUCER_ID
        is_transactional = is_ours and (is_transactional or self.is_open(producer_id))
        identity = {"producer_id": producer_id, "producer_epoch": 0, "base_sequence": self.next_sequence(producer_id)}
        batch = build_batch(
            [Record(0, self.clock.now_ms(), key, b"v") for key in keys],
            is_transactional=is_transactional,
            **(identity if is_ours else {}),
        )
        self.append(batch, producer_id, tuple(keys), is_transactional, None)

    @rule(producer_id=st.sampled_from(PRODUCERS[1:]), kind=st.sampled_from(list(MarkerType)))
    def end(self, producer_id, kind):
        """Also where no transaction is open: coordinators repeat markers."""
        batch = build_marker(EndMarker(kind, 0), producer_id, 0, self.clock.now_ms())
        self.append(batch, producer_id, (), True, kind)

    def append(self, batch, producer_id, keys, is_transactional, marker) -> None:
        result = self.written_to_leader(batch)
        if result is None:
            return
        self.written.append(Written(result.base_offset, producer_id, keys, is_transactional, marker))
        assert result.last_offset + 1 == self.written[-1].next_offset

    def written_to_leader(self, batch) -> AppendResult | None:
        """None for a producer known by a marker only: its batches ended before this log began, or were superseded.

        It would take a new epoch.
        """
        try:
            return self.leader.log.append(batch, self.epoch)
        except ApiError as refused:
            is_forgotten = self.leader.base_offset or self.leader.is_compacted
            if refused.code is not ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER or not is_forgotten:
                raise
        return None

    @rule(data=st.data())
    def delete_records(self, data):
        target = data.draw(st.integers(0, self.high_watermark))
        self.leader.log.delete_records(target, self.high_watermark)
        self.follower.log.follow_log_start(self.leader.log.log_start_offset)

    # -- the follower

    @rule(max_bytes=st.integers(0, 600))
    def replicate(self, max_bytes):
        leader, follower = self.leader.log, self.follower.log
        if follower.log_end_offset < leader.log_start_offset:
            self.start_over()
        log_slice = leader.read(follower.log_end_offset, max_bytes, leader.log_end_offset)
        if log_slice.length:
            follower.append_as_follower(memoryview(log_slice.read()))
        self.high_watermark = max(self.high_watermark, follower.log_end_offset)
        for replica in (self.leader, self.follower):
            replica.log.note_committed(self.committed(replica))

    @precondition(lambda self: self.follower.log.log_end_offset >= self.high_watermark)
    @rule()
    def fail_over(self):
        """The follower leads; what it does not have is cut off at the old leader."""
        end = self.follower.log.log_end_offset
        self.leader, self.follower = self.follower, self.leader
        self.written = [item for item in self.written if item.base_offset < end]
        self.epoch += 1
        self.leader.log.begin_leader_epoch(self.epoch)
        self.follower.log.truncate_to(end)

    @rule()
    def start_over(self):
        """The follower's disk was replaced, or its log ends before the leader's begins."""
        start = self.leader.log.log_start_offset
        self.follower.log.truncate_fully_and_start_at(start)
        self.follower.base_offset, self.follower.is_compacted = start, self.leader.is_compacted

    # -- either

    @rule(is_leader=st.booleans(), is_clean=st.booleans())
    def restart(self, is_leader, is_clean):
        replica = self.leader if is_leader else self.follower
        log = replica.log
        if is_clean:
            log.flush()
            log.store_clean_state()
        known = {"recovery_point": log.recovery_point, "log_start_offset": log.log_start_offset}
        log.close()
        finish_swaps(log.directory)
        replica.log = Log.open(log.directory, CONFIG, is_clean=is_clean, **known)
        replica.has_restarted = True

    @rule(is_leader=st.booleans(), later_ms=st.sampled_from([0, 50, 1_000]))
    def compact(self, is_leader, later_ms):
        self.clock.advance(later_ms)
        replica = self.leader if is_leader else self.follower
        log = replica.log
        log.flush()
        target = LogToClean.of(
            TopicPartition("t", 0), log, log.last_stable_offset(self.committed(replica)), log.last_offsets_of_producers
        )
        plan = plan_compaction(target.facts(0), 0, target.end_offset_max, CONFIG, self.clock.now_ms())
        cleaner = CleanerSettings(self.clock, on_owner=lambda step: step(), sleep=lambda seconds: None)
        if plan.is_due:
            CleanerPass(target, plan, cleaner, self.clock.now_ms()).run()
            replica.is_compacted = True
            self.follower.is_compacted |= is_leader

    # -- what must hold

    @invariant()
    def last_stable_offset_is_where_the_first_undecided_transaction_began(self):
        for replica in (self.leader, self.follower):
            naive = Naive(self.written, replica, self.committed(replica))
            last_stable_offset = replica.log.last_stable_offset(naive.high_watermark)
            if replica.is_compacted:
                # What a transaction left may be gone before its marker comes.
                assert naive.first_undecided <= last_stable_offset
            elif replica.has_restarted:
                assert naive.first_undecided <= last_stable_offset <= naive.first_open
            else:
                assert last_stable_offset == naive.first_undecided

    @invariant()
    def readers_see_what_was_committed(self):
        for replica in (self.leader, self.follower):
            self.check_readers(replica)

    def last_of_key(self) -> dict[bytes, int]:
        """The last committed record of each key: what compaction may never take, and a follower may not have yet."""
        leading = Naive(self.written, self.leader, self.high_watermark)
        return {key: offset for offset, key in leading.records(0, leading.first_open)}

    def check_readers(self, replica: Replica) -> None:
        log = replica.log
        naive = Naive(self.written, replica, self.committed(replica))
        end = log.last_stable_offset(naive.high_watermark)
        last_of_key = self.last_of_key()
        for max_bytes in (0, 150, 10_000):
            for from_offset in {log.log_start_offset, (log.log_start_offset + end) // 2}:
                expected = naive.records(from_offset, end)
                consumed = consume(log, from_offset, end, max_bytes)
                if replica.is_compacted:
                    assert set(consumed) <= set(expected)
                    assert consumed == sorted(consumed)
                    assert all(last_of_key[key] > offset for offset, key in set(expected) - set(consumed))
                else:
                    assert consumed == expected


ReadersAgainstList.TestCase.settings = settings(max_examples=examples(30), stateful_step_count=40)
TestReadersAgainstList = ReadersAgainstList.TestCase
