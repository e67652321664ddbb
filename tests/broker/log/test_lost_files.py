"""A log of transactions whose files beside the batches are lost, garbled or cut short, any subset of them: what readers
of committed records see stays the same.
"""

import shutil
import struct
import tempfile
from pathlib import Path

import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.common.types import TopicPartition
from broker.log.compaction.cleaner import CleanerPass
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.plan import plan_compaction
from broker.log.compaction.settings import CleanerSettings
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.open_segments import OpenSegments
from broker.log.producer_snapshot_format import NotedAborts, decode_snapshot
from broker.log.retention import plan_retention
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record
from tests.broker.log.test_read_committed_model import consume
from tests.examples import examples, some
from tests.manual_clock import ManualClock

CONFIG = LogConfig(segment_bytes=450, index_interval_bytes=120, min_cleanable_dirty_ratio=0.0, delete_retention_ms=100)
PRODUCERS = [7, 8, 9]
BESIDE_THE_BATCHES = ("*.index", "*.timeindex", "*.txnindex", "*.snapshot", "leader-epoch-checkpoint")

WAYS = {
    "kept": lambda content, noise: content,
    "lost": lambda content, noise: None,
    "emptied": lambda content, noise: b"",
    "zeroed": lambda content, noise: bytes(len(content)),
    "garbled": lambda content, noise: (noise * (len(content) // len(noise) + 1))[: len(content)],
    "one byte changed": lambda content, noise: _changed(content, noise),
    "cut short": lambda content, noise: content[: len(content) // 2],
    "cut by an entry": lambda content, noise: content[:-34],
    "grown": lambda content, noise: content + noise,
}


def _changed(content: bytes, noise: bytes) -> bytes:
    at = int.from_bytes(noise[:4], "big") % max(1, len(content))
    return content[:at] + bytes([content[at] ^ (noise[4] or 1)]) + content[at + 1 :] if content else noise


class Written:
    """A log that is written to by some producers, half of whose transactions are aborted."""

    def __init__(self, directory: Path):
        self.clock = ManualClock()
        self.log = Log.open(directory, CONFIG)

    def do(self, step: tuple) -> None:
        getattr(self, step[0])(*step[1:])

    def produce(self, producer_id: int, key: bytes) -> None:
        sequence = self._next_sequence(producer_id)
        records = [Record(0, self.clock.now_ms(), key, b"%d" % sequence)]
        identity = {"producer_id": producer_id, "producer_epoch": 0, "base_sequence": sequence}
        self.log.append(build_batch(records, is_transactional=True, **identity), 0)

    def _next_sequence(self, producer_id: int) -> int:
        last = [facts.last_sequence for facts in self.log.producers() if facts.producer_id == producer_id]
        return last[0] + 1 if last else 0

    def end(self, producer_id: int, kind: MarkerType) -> None:
        self.log.append(build_marker(EndMarker(kind, 0), producer_id, 0, self.clock.now_ms()), 0)

    def retain(self, segments: int) -> None:
        """Let go of the oldest segments."""
        config = LogConfig(segment_bytes=450, retention_bytes=450 * segments)
        end = self.log.last_stable_offset(self.log.log_end_offset)
        facts = self.log.retention_facts()
        self.log.apply(plan_retention(facts, config, self.log.log_start_offset, end, self.clock.now_ms()))

    def compact(self, later_ms: int) -> None:
        self.clock.advance(later_ms)
        log = self.log
        log.flush()
        end = log.last_stable_offset(log.log_end_offset)
        target = LogToClean.of(TopicPartition("t", 0), log, end, log.last_offsets_of_producers)
        plan = plan_compaction(target.facts(0), 0, end, CONFIG, self.clock.now_ms())
        cleaner = CleanerSettings(self.clock, on_owner=lambda step: step(), sleep=lambda seconds: None)
        if plan.is_due:
            CleanerPass(target, plan, cleaner, self.clock.now_ms()).run()

    def cut(self, records: int) -> None:
        self.log.truncate_to(max(self.log.log_start_offset, self.log.log_end_offset - records))

    def restart(self, is_clean: bool) -> None:
        self.log = reopened(self.log, is_clean=is_clean)


def stopped(log: Log, *, is_clean: bool) -> dict[str, int]:
    """What is noted beside a log that has stopped."""
    if is_clean:
        log.flush()
        log.store_clean_state()
    known = {"recovery_point": log.recovery_point, "log_start_offset": log.log_start_offset}
    log.close()
    return known


def reopened(log: Log, *, is_clean: bool) -> Log:
    return Log.open(log.directory, CONFIG, is_clean=is_clean, **stopped(log, is_clean=is_clean))


def seen(log: Log) -> tuple[int, list]:
    """By who reads committed records, in one large fetch after another and in small ones."""
    end = log.last_stable_offset(log.log_end_offset)
    return end, [consume(log, log.log_start_offset, end, max_bytes) for max_bytes in (10_000, 0)]


def spoil(directory: Path, ways: dict[str, tuple[str, bytes]]) -> None:
    for name, (way, noise) in ways.items():
        content = WAYS[way]((directory / name).read_bytes(), noise)
        if content is None:
            (directory / name).unlink()
        else:
            (directory / name).write_bytes(content)


def beside(directory: Path, *patterns: str) -> list[str]:
    return sorted(path.name for pattern in patterns or BESIDE_THE_BATCHES for path in directory.glob(pattern))


STEPS = st.one_of(
    st.tuples(st.just("produce"), st.sampled_from(PRODUCERS), st.sampled_from([b"a", b"b", b"c"])),
    st.tuples(st.just("produce"), st.sampled_from(PRODUCERS), st.sampled_from([b"a", b"b", b"c"])),
    st.tuples(st.just("end"), st.sampled_from(PRODUCERS), st.sampled_from(list(MarkerType))),
    st.tuples(st.just("end"), st.sampled_from(PRODUCERS), st.just(MarkerType.ABORT)),
    st.tuples(st.just("restart"), st.booleans()),
    st.tuples(st.just("compact"), st.sampled_from([0, 1_000])),
    st.tuples(st.just("retain"), st.integers(1, 4)),
    st.tuples(st.just("cut"), st.integers(1, 3)),
)


@settings(max_examples=examples(240))
@given(steps=st.lists(STEPS, min_size=8, max_size=40), is_clean=st.booleans(), data=st.data())
def test_any_files_beside_the_batches_may_be_lost(steps, is_clean, data):
    directory = Path(tempfile.mkdtemp(prefix="barnabas-lost-")) / "t-0"
    try:
        written = Written(directory)
        for step in steps:
            written.do(step)
        before = seen(written.log)
        known = stopped(written.log, is_clean=is_clean)
        ways = {
            name: (data.draw(st.sampled_from(list(WAYS)), label=name), data.draw(st.binary(min_size=8, max_size=80)))
            for name in beside(directory)
        }
        spoil(directory, ways)
        log = Log.open(directory, CONFIG, is_clean=is_clean, **known)
        assert seen(log) == before
        # What was mended is on disk, and told again.
        log = reopened(log, is_clean=data.draw(st.booleans()))
        assert seen(log) == before
        log.close()
    finally:
        shutil.rmtree(directory.parent)


@pytest.fixture
def log(tmp_path):
    """Three producers, every other of whose transactions is aborted, over many segments."""
    written = Written(tmp_path / "t-0")
    for number in range(30):
        producer_id = PRODUCERS[number % 3]
        written.produce(producer_id, b"k")
        written.produce(producer_id, b"l")
        written.end(producer_id, MarkerType.ABORT if number % 2 else MarkerType.COMMIT)
    assert len(written.log.segments) > 8
    return written.log


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("patterns", [("*.txnindex",), ("*index",), ("*index", "*.snapshot")])
def test_aborted_records_stay_aborted_when_all_indexes_are_removed(log, patterns, is_clean):
    before = seen(log)
    known = stopped(log, is_clean=is_clean)
    for name in beside(log.directory, *patterns):
        (log.directory / name).unlink()
    assert seen(Log.open(log.directory, CONFIG, is_clean=is_clean, **known)) == before


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("way", [way for way in WAYS if way != "kept"])
def test_aborted_records_stay_aborted_when_one_transaction_index_is_spoilt(log, tmp_path, way, is_clean):
    before = seen(log)
    known = stopped(log, is_clean=is_clean)
    for name in some(beside(log.directory, "*.txnindex")):
        directory = tmp_path / way / name / "t-0"
        shutil.copytree(log.directory, directory)
        spoil(directory, {name: (way, b"\x00\x00\x00\x0bnoise")})
        assert seen(Log.open(directory, CONFIG, is_clean=is_clean, **known)) == before, name


@pytest.mark.parametrize("is_clean", [True, False])
def test_a_snapshot_of_an_earlier_version_lets_a_lost_offset_index_tell_of_a_lost_transaction_index(log, is_clean):
    """As Kafka, which recovers a segment whose offset index is missing, its transaction index included."""
    before = seen(log)
    known = stopped(log, is_clean=is_clean)
    for name in beside(log.directory, "*.snapshot"):
        snapshot = decode_snapshot((log.directory / name).read_bytes())
        (log.directory / name).write_bytes(without_notes((log.directory / name).read_bytes(), snapshot.aborts))
        assert decode_snapshot((log.directory / name).read_bytes()) == (snapshot.producers, None)
    for name in beside(log.directory, "*index"):
        (log.directory / name).unlink()
    assert seen(Log.open(log.directory, CONFIG, is_clean=is_clean, **known)) == before


def without_notes(snapshot: bytes, aborts: tuple[NotedAborts, ...]) -> bytes:
    body = snapshot[6 : -4 - 16 * len(aborts)]
    return struct.pack(">hI", 1, crc32c(body)) + body


@pytest.mark.parametrize("segments_gone", [0, 2])
def test_a_log_opened_with_a_snapshot_of_an_earlier_version_notes_its_aborts_at_the_next_clean_stop(log, segments_gone):
    known = stopped(log, is_clean=True)
    newest = log.directory / beside(log.directory, "*.snapshot")[-1]
    aborts = decode_snapshot(newest.read_bytes()).aborts
    newest.write_bytes(without_notes(newest.read_bytes(), aborts))
    log = Log.open(log.directory, CONFIG, is_clean=True, **known)
    if segments_gone:
        log.replace_segments(log.segments[:segments_gone], [])
    start = log.segments[0].base_offset
    stopped(log, is_clean=True)
    assert decode_snapshot(newest.read_bytes()).aborts == tuple(abort for abort in aborts if abort.base_offset >= start)


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("is_moved", [True, False], ids=["a copy that took the log's place", "a follower"])
def test_aborted_records_stay_aborted_in_a_log_that_was_copied(log, tmp_path, is_moved, is_clean):
    copy = Log.open(tmp_path / "copied-0", CONFIG)
    while copy.log_end_offset < log.log_end_offset:
        log_slice = log.read(copy.log_end_offset, 500, log.log_end_offset)
        copy.append_as_follower(memoryview(log_slice.read()))
    if is_moved:
        copy.lie_in(tmp_path / "moved-0", OpenSegments())
        copy.append(build_marker(EndMarker(MarkerType.ABORT, 0), PRODUCERS[0], 0, 1_000), 0)
        log.append(build_marker(EndMarker(MarkerType.ABORT, 0), PRODUCERS[0], 0, 1_000), 0)
    known = stopped(copy, is_clean=is_clean)
    assert beside(copy.directory, "*.txnindex")
    for name in beside(copy.directory, "*index"):
        (copy.directory / name).unlink()
    assert seen(Log.open(copy.directory, CONFIG, is_clean=is_clean, **known)) == seen(log)
