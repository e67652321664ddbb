"""What recovery takes out of a log is kept beside it, but for writes that a stop cut off."""

import struct
from pathlib import Path

import pytest
import structlog

from broker.common.limits import DAMAGED_TAILS_MAX
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.batch import iterate_headers

CONFIG = LogConfig(segment_bytes=2_000, index_interval_bytes=150)


@pytest.fixture
def directory(tmp_path, batch_of):
    """Several segments, left as a kill leaves them."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    while len(log.segments) < 4 or log.segments[-1].size_bytes < 900:
        number = log.log_end_offset
        log.append(batch_of(b"%d" % number, b"%d" % (number + 1), timestamp_ms=number), 0)
    log.store_clean_state()
    return tmp_path / "t-0"


def segments(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.log"))


def kept(directory: Path) -> dict[str, bytes]:
    """All files that were set aside, by their names."""
    strays = directory.parent.glob(f"{directory.name}.*-stray")
    return {path.name: path.read_bytes() for stray in strays for path in stray.iterdir()}


def start_of(path: Path, number: int) -> int:
    return list(iterate_headers(path.read_bytes()))[number][0]


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(content)


def opened(directory: Path, *, is_clean: bool = False, **facts) -> tuple[Log, list[dict]]:
    with structlog.testing.capture_logs() as lines:
        log = Log.open(directory, CONFIG, is_clean=is_clean, **facts)
    return log, lines


@pytest.mark.parametrize("is_clean", [True, False])
def test_batches_behind_a_damaged_one_are_kept_and_the_cut_is_told(directory, is_clean):
    active = segments(directory)[-1]
    start = start_of(active, -3 if is_clean else 2)
    if is_clean:  # nothing is read but what lies behind the last index entry
        active.with_suffix(".index").unlink()
    flip(active, start + 16)
    tail = active.read_bytes()[start:]
    log, lines = opened(directory, is_clean=is_clean)
    assert kept(directory) == {f"{active.name}.from-{start}": tail}
    (line,) = [line for line in lines if line["event"] == "log end cut"]
    assert (line["position"], line["bytes_cut"], line["log_end_offset"]) == (start, len(tail), log.log_end_offset)
    assert line["reason"].startswith("magic byte")
    assert Path(line["kept_in"]).read_bytes() == tail


def test_segments_behind_damage_are_set_aside_with_all_their_files(directory):
    first, *later = segments(directory)
    expected = {path.name: path.read_bytes() for log in later for path in directory.glob(f"{log.stem}.*[gx]")}
    assert len(expected) == 3 * len(later)
    flip(first, start_of(first, 2) + 40)
    _, lines = opened(directory)
    aside = kept(directory)
    assert {name: aside.get(name) for name in expected} == expected
    assert segments(directory) == [first]
    logged = [(line["segment"], line["size_bytes"]) for line in lines if line["event"] == "segment set aside"]
    assert sorted(logged) == [(int(path.stem), len(expected[path.name])) for path in later]


def test_a_log_that_is_to_start_behind_its_end_is_set_aside(directory):
    expected = {path.name: path.read_bytes() for path in segments(directory)}
    log, lines = opened(directory, is_clean=True, log_start_offset=10_000)
    assert (log.log_start_offset, log.log_end_offset) == (10_000, 10_000)
    assert expected.items() <= kept(directory).items()
    assert "behind its end" in lines[0]["reason"]


TORN = {
    "a batch cut off": lambda batch: batch[:-10],
    "half a header": lambda batch: batch[:30],
    "pages that were never written": lambda batch: bytes(10_000),
}
NOT_UNDERSTOOD = {
    "random bytes": lambda batch: bytes(range(1, 256)),
    "a whole batch, one byte changed": lambda batch: batch[:-1] + bytes([batch[-1] ^ 1]),
    "a length that was changed, and batches behind it": lambda batch: (
        batch[:8] + struct.pack(">i", 9_000) + batch[12:] + batch[:7] + b"\xff" + batch[8:]
    ),
}


def next_batch(directory: Path, batch_of) -> bytes:
    """The bytes that a log of the same offsets got next."""
    log = Log.open(directory, CONFIG)
    active = segments(directory)[-1]
    before = active.stat().st_size
    log.append(batch_of(b"next"), 0)
    log.close()
    batch = active.read_bytes()[before:]
    active.write_bytes(active.read_bytes()[:before])
    return batch


@pytest.mark.parametrize("how", TORN)
def test_nothing_is_kept_of_a_write_that_a_stop_cut_off(directory, batch_of, how):
    batch = next_batch(directory, batch_of)
    active = segments(directory)[-1]
    active.write_bytes(active.read_bytes() + TORN[how](batch))
    _, lines = opened(directory)
    assert kept(directory) == {}
    assert [line["kept_in"].partition(":")[0] for line in lines if line["event"] == "log end cut"] == ["nowhere"]


@pytest.mark.parametrize("how", NOT_UNDERSTOOD)
def test_bytes_that_are_not_understood_are_kept(directory, batch_of, how):
    tail = NOT_UNDERSTOOD[how](next_batch(directory, batch_of))
    active = segments(directory)[-1]
    whole = active.read_bytes()
    active.write_bytes(whole + tail)
    opened(directory)
    assert active.read_bytes() == whole
    assert list(kept(directory).values()) == [tail]


def test_a_start_that_is_stopped_before_the_cut_does_it_again(directory, monkeypatch):
    first, *later = segments(directory)
    flip(first, start_of(first, 2) + 40)
    with monkeypatch.context() as stopped:
        stopped.setattr("broker.log.segment.Segment.cut_tail", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Log.open(directory, CONFIG)
    log, lines = opened(directory)
    assert log.log_end_offset == 4
    assert [line["event"] for line in lines if line["log_level"] != "info"] == ["log end cut"]
    assert {path.name for path in later} <= kept(directory).keys()


def test_no_more_than_some_damaged_ends_are_kept_and_never_a_segment_is_removed(directory, batch_of):
    first, *_ = segments(directory)
    flip(first, start_of(first, -1) + 40)
    opened(directory)
    whole_segments = {name for name in kept(directory) if name.endswith(".log")}
    for number in range(DAMAGED_TAILS_MAX + 3):
        active = segments(directory)[-1]
        active.write_bytes(active.read_bytes() + b"garbage %d" % number * 20)
        opened(directory)
    aside = kept(directory)
    strays = directory.parent.glob("t-0.*-stray")
    tails = [path.read_bytes() for stray in strays for path in stray.iterdir() if b"garbage" in path.read_bytes()]
    assert len(tails) == DAMAGED_TAILS_MAX
    assert any(b"garbage %d" % (DAMAGED_TAILS_MAX + 2) in tail for tail in tails), "the newest is there"
    assert whole_segments
    assert whole_segments <= aside.keys()
