"""A compacted log with a cleaner and a clock that stands still, on the thread of the test."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from broker.common.types import TopicPartition
from broker.log.compaction.log_cleaner import LogCleaner
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.pass_stats import PassStats
from broker.log.compaction.settings import CleanerSettings
from broker.log.compaction.swap import finish_swaps
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.batch import Compression, iterate_headers
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records
from tests.manual_clock import ManualClock

PARTITION = TopicPartition("t", 0)
CONFIG = LogConfig(
    segment_bytes=1_000,
    index_interval_bytes=150,
    max_message_bytes=1_000,
    min_cleanable_dirty_ratio=0.0,
    delete_retention_ms=1_000,
)


def read_records(log: Log) -> list[Record]:
    """Everything from the log start on, slice by slice as a consumer does."""
    records, fetch_offset = [], log.log_start_offset
    while data := log.read(fetch_offset, 1 << 20, log.log_end_offset).read():
        for at, header in iterate_headers(data):
            records += decode_records(data[at:])
            fetch_offset = header.next_offset
    return records


@dataclass
class CompactedLog:
    """A log whose records are (key, value) pairs; `written` has all that were ever appended, by offset.

    Its topic was not always compacted, so records without a key came in too.
    """

    directory: Path
    config: LogConfig = CONFIG
    clock: ManualClock = field(default_factory=ManualClock)
    offset_map_bytes: int = 1 << 20
    written: list[tuple[bytes | None, bytes | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cleaner = self.new_cleaner()
        self.open()

    def new_cleaner(self) -> LogCleaner:
        settings = CleanerSettings(
            clock=self.clock,
            on_owner=lambda step: step(),
            sleep=lambda seconds: self.clock.advance(int(seconds * 1000)),
            offset_map_bytes=self.offset_map_bytes,
        )
        return LogCleaner(settings)

    def open(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        finish_swaps(self.directory)
        self.log = Log.open(self.directory, self.config)

    def append(self, *pairs: tuple[bytes | None, bytes | None], **options) -> int:
        """One batch; its first offset."""
        now_ms = self.clock.now_ms()
        records = [Record(0, now_ms, key, value) for key, value in pairs]
        self.written += pairs
        return self.log.append(build_batch(records, **options), 0).base_offset

    def seal(self) -> None:
        """Let a new segment begin, by filling the active one."""
        active = self.log.segments[-1]
        while self.log.segments[-1] is active:
            self.append((b"filler", b"." * 300))

    def target(self, **changes) -> LogToClean:
        target = LogToClean.of(PARTITION, self.log, self.log.log_end_offset, frozenset())
        return replace(target, **changes)

    def clean(self, **changes) -> PassStats | None:
        return self.cleaner.clean_filthiest([self.target(**changes)])

    def records(self) -> list[Record]:
        return read_records(self.log)

    def values(self) -> dict[bytes, bytes | None]:
        """What a reader of the whole log knows in the end."""
        return {record.key: record.value for record in self.records()}


@pytest.fixture
def compacted(tmp_path) -> CompactedLog:
    return CompactedLog(tmp_path / "t-0")


@pytest.fixture(scope="session")
def new_compacted():
    return CompactedLog


@pytest.fixture(scope="session")
def codecs() -> list[Compression]:
    return list(Compression)
