"""Old messages between new batches of one sealed segment, where no start looks: Kafka appended both for years.

They are never cut, compacted, copied as something else or skipped: a reader gets their bytes as they are, or an error.
"""

import struct
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from broker.common.errors import ApiError, ErrorCode
from broker.log.compaction.log_cleaner import LogCleaner
from broker.log.loader import UnusableLogError
from broker.log.log import Log
from broker.log.log_slice import LogSlice
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.broker.log.compaction.conftest import PARTITION, CompactedLog
from tests.broker.log.old_messages import old_messages

#: Offsets 0 to 2 and 8 to 10 are batches, 3 to 7 old messages; 11 and 12 are in the active segment.
OLD, BEHIND, ACTIVE, END = 3, 8, 11, 13


def batches(directory: Path, from_offset: int, count: int) -> bytes:
    log = Log.open(directory, CompactedLog(directory).config)
    log.truncate_fully_and_start_at(from_offset)
    for _ in range(count):
        log.append(build_batch([Record(0, 1_000, b"key", b"value")]), 0)
    log.close()
    return (directory / f"{from_offset:020d}.log").read_bytes()


@pytest.fixture(params=[0, 1], ids=["format 0", "format 1"])
def old(request) -> bytes:
    return old_messages(BEHIND - OLD, request.param, from_offset=OLD)


@pytest.fixture
def sealed(tmp_path, old) -> Path:
    """The sealed segment's file, with its indexes, in a directory that a clean stop has left."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    before, behind = batches(tmp_path / "a-0", 0, OLD), batches(tmp_path / "b-0", BEHIND, ACTIVE - BEHIND)
    path = directory / f"{0:020d}.log"
    path.write_bytes(before + old + behind)
    path.with_suffix(".index").write_bytes(struct.pack(">ii", BEHIND, len(before + old)))
    path.with_suffix(".timeindex").write_bytes(struct.pack(">qi", 1_000, BEHIND))
    (directory / f"{ACTIVE:020d}.log").write_bytes(batches(tmp_path / "c-0", ACTIVE, END - ACTIVE))
    return path


@pytest.fixture
def log(sealed):
    log = Log.open(sealed.parent, CompactedLog(sealed.parent.with_name("other-0")).config, is_clean=True)
    yield log
    log.close()


def content(sealed: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sealed.parent.glob("*.log*")}


def read(log: Log, offset: int, max_bytes: int = 1 << 20) -> LogSlice:
    return log.read(offset, max_bytes, log.log_end_offset)


@pytest.mark.parametrize("max_bytes", [1, 100, 250, 300, 1 << 20])
def test_a_fetch_is_answered_with_their_bytes_as_they_are_or_an_error(log, sealed, max_bytes):
    """Kafka serves them as they are, too: clients know formats 0 and 1 by the magic byte."""
    whole = sealed.read_bytes()
    for offset in range(ACTIVE):
        if OLD <= offset < BEHIND:
            with pytest.raises(ApiError, match=r"Kafka before 0\.11") as refused:
                read(log, offset, max_bytes)
            assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
        else:
            data = read(log, offset, max_bytes).read()
            assert data
            assert data in whole, "one run of the file, nothing of it left out or changed"


def test_a_follower_takes_nothing_of_an_answer_that_has_them_and_goes_on_behind_them(log, tmp_path, sealed):
    before = content(sealed)
    follower = Log.open(tmp_path / "follower-0", log.config)
    with pytest.raises(ApiError, match="magic byte") as refused:
        follower.append_as_follower(memoryview(read(log, 0).read()))
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
    assert (follower.log_end_offset, follower.size_bytes) == (0, 0)
    follower.append_as_follower(memoryview(read(log, 0, 1).read()))
    assert follower.log_end_offset == 1, "a batch that comes alone is taken"
    assert content(sealed) == before
    follower.close()


def test_compaction_leaves_the_log_as_it_is_and_names_the_reason(log, sealed, tmp_path):
    before = content(sealed)
    compacted = CompactedLog(tmp_path / "other-0")
    compacted.log.close()
    compacted.log = log
    cleaner: LogCleaner = compacted.cleaner
    assert compacted.clean() is None
    assert "Kafka before 0.11" in cleaner.uncleanable[PARTITION]
    assert content(sealed) == before


@pytest.mark.parametrize("offset", range(OLD, BEHIND + 1))
def test_a_cut_that_would_leave_them_at_the_end_is_refused_before_anything_is_cut(log, sealed, offset):
    """What was appended behind them could not be found. The follower says that it cannot follow, and keeps all."""
    before = content(sealed)
    with pytest.raises(ApiError, match=r"Kafka before 0\.11"):
        log.truncate_to(offset)
    assert (content(sealed), log.log_end_offset) == (before, END)
    assert read(log, BEHIND).length


def test_a_cut_far_behind_them_keeps_them_and_the_log_goes_on(log, sealed, old):
    """The leader of a follower does not have what came later; the segment that holds them is the active one then."""
    whole, end = sealed.read_bytes(), sealed.read_bytes().index(old) + len(old)
    log.truncate_to(BEHIND + 1)
    assert sealed.read_bytes()[:end] == whole[:end]
    log.append(build_batch([Record(0, 1_000, b"key", b"later")]), 0)
    assert b"later" in read(log, BEHIND + 1).read()
    with pytest.raises(ApiError):
        read(log, OLD)


def test_a_cut_before_them_takes_them_along_as_the_leader_has_others_there(log, sealed, old):
    log.truncate_to(OLD - 1)
    assert old not in sealed.read_bytes()
    log.append(build_batch([Record(0, 1_000, b"key", b"later")]), 0)
    assert b"later" in read(log, OLD - 1).read()


@pytest.mark.parametrize("is_index_lost", [False, True])
def test_a_start_that_reads_all_of_it_refuses_the_log_and_one_that_does_not_keeps_it(sealed, is_index_lost):
    before = content(sealed)
    if is_index_lost:
        sealed.with_suffix(".index").unlink()
    with pytest.raises(UnusableLogError, match=r"Kafka before 0\.11"):
        Log.open(sealed.parent, CompactedLog(sealed.parent.with_name("other-0")).config)
    assert content(sealed) == before
    with capture_logs():
        log = Log.open(sealed.parent, CompactedLog(sealed.parent.with_name("another-0")).config, is_clean=True)
    assert (log.log_end_offset, content(sealed)) == (END, before)
    log.close()
