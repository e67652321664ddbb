"""Whatever happens to a followed file, each of its lines comes once and in order, the last one too."""

import os
import tempfile
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.connect.file_tail import ROTATION_GRACE_MS, FileTail, TailedLine

NOW = 1_000_000
#: When a file that was looked at at NOW has rested.
REST_MS = 5_000
RESTED = NOW + REST_MS


class Follower:
    """A tail with the lines it gave, and its last resume point."""

    def __init__(self, path: Path, resume_at=None, max_line_bytes: int = 100, rest_ms: int = REST_MS):
        self.tail = FileTail(path, max_line_bytes, resume_at, rest_ms)
        self.offset = resume_at

    def lines(self, now_ms: int = NOW, max_lines: int = 100, max_bytes: int = 10_000) -> list[TailedLine]:
        lines = self.tail.read_lines(now_ms, max_lines, max_bytes)
        if lines:
            self.offset = lines[-1].offset
        return lines

    def read(self, now_ms: int = NOW, max_lines: int = 100, max_bytes: int = 10_000) -> list[bytes]:
        return [line.value for line in self.lines(now_ms, max_lines, max_bytes)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "access.log"


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_file_that_comes_later_is_waited_for(path):
    follower = Follower(path)
    assert follower.read() == []
    append(path, "one\n")
    assert follower.read() == [b"one"]


def test_unfinished_line_waits_for_its_end(path):
    append(path, "one\ntw")
    follower = Follower(path)
    assert follower.read() == [b"one"]
    assert follower.read() == []
    append(path, "o\r\nthree\n")
    assert follower.read() == [b"two", b"three"]


def test_empty_lines_are_lines(path):
    append(path, "\n\nx\n")
    assert Follower(path).read() == [b"", b"", b"x"]


def test_resume_point_continues_behind_the_last_line_read(path):
    append(path, "one\ntwo\n")
    first = Follower(path)
    assert first.read(max_lines=1) == [b"one"]
    append(path, "three\n")
    assert Follower(path, first.offset).read() == [b"two", b"three"]


def test_line_over_the_limit_comes_in_marked_pieces_that_add_up(path):
    append(path, "a" * 250 + "\n" + "b" * 100 + "\nc\n")
    tail = FileTail(path, 100, None, REST_MS)
    lines = tail.read_lines(NOW, 100, 10_000)
    assert [(len(line.value), line.continues) for line in lines] == [
        (100, True),
        (100, True),
        (50, False),
        (100, False),
        (1, False),
    ]


def test_line_over_the_limit_is_cut_before_its_end_is_written(path):
    append(path, "a" * 150)
    follower = Follower(path)
    assert follower.read() == [b"a" * 100]
    append(path, "\n")
    assert follower.read() == [b"a" * 50]


def test_truncated_file_is_read_from_its_beginning(path):
    append(path, "one\ntwo\n")
    follower = Follower(path)
    follower.read()
    path.write_text("1\n")
    assert follower.read() == [b"1"]


def test_file_cut_and_refilled_beyond_the_old_position_is_read_from_its_beginning(path):
    append(path, "one\ntwo\n")
    follower = Follower(path)
    follower.read()
    path.write_text("first\nsecond\nthird\n")
    assert follower.read() == [b"first", b"second", b"third"]


def test_renamed_file_is_read_to_its_end_before_the_new_one(path):
    append(path, "one\n")
    follower = Follower(path)
    assert follower.read() == [b"one"]
    rotated = path.with_name("access.log.1")
    path.rename(rotated)
    append(path, "new\n")
    assert follower.read(NOW) == []
    append(rotated, "late\nunfinished")
    assert follower.read(NOW + ROTATION_GRACE_MS - 1) == [b"late"]
    assert follower.read(NOW + ROTATION_GRACE_MS) == [b"unfinished"]
    assert follower.read(NOW + ROTATION_GRACE_MS) == [b"new"]


def test_file_renamed_while_nobody_read_is_found_under_its_new_name(path):
    append(path, "one\ntwo\n")
    first = Follower(path)
    first.read(max_lines=1)
    path.rename(path.with_name("access.log.1"))
    append(path, "new\n")
    second = Follower(path, first.offset)
    assert second.read() == [b"two"]
    assert second.read() == []
    assert second.read(NOW + ROTATION_GRACE_MS) == []
    assert second.read(NOW + ROTATION_GRACE_MS) == [b"new"]


def test_other_file_with_the_same_inode_is_not_taken_for_the_one_read(path):
    append(path, "one\ntwo\n")
    first = Follower(path)
    first.read()
    with path.open("r+") as file:  # the inode stays, as when a file system gives it to the next file
        file.write("uno\ndos\ntres\n")
    assert os.stat(path).st_ino == first.offset["inode"]
    assert Follower(path, first.offset).read() == [b"uno", b"dos", b"tres"]


def test_one_read_takes_at_most_the_lines_and_bytes_asked_for(path):
    append(path, "1234\n" * 100)
    follower = Follower(path)
    assert len(follower.read(max_lines=7)) == 7
    assert len(follower.read(max_bytes=22)) == 4
    assert len(follower.read()) == 89


def test_directory_under_the_name_gives_nothing(tmp_path):
    assert FileTail(tmp_path, 100, None, REST_MS).read_lines(NOW, 10, 100) == []


def test_last_line_without_an_end_comes_once_the_file_has_rested(path):
    append(path, "one\ntwo")
    follower = Follower(path)
    assert follower.read(NOW) == [b"one"]
    assert follower.read(NOW + 1) == []
    assert follower.read(NOW + REST_MS) == []
    (last,) = follower.lines(NOW + 1 + REST_MS)
    assert (last.value, last.is_unfinished, last.is_continuation) == (b"two", True, False)
    assert follower.read(NOW + 10 * REST_MS) == []


def test_file_that_grows_has_not_rested(path):
    append(path, "t")
    follower = Follower(path)
    assert follower.read(NOW) == []
    append(path, "w")
    assert follower.read(RESTED) == []
    append(path, "o\n")
    assert follower.lines(RESTED + REST_MS)[0] == TailedLine(b"two", False, follower.offset)


def test_end_that_comes_to_a_line_taken_unfinished_is_no_line(path):
    append(path, "one")
    follower = Follower(path)
    assert [follower.read(now_ms) for now_ms in (NOW, RESTED)] == [[], [b"one"]]
    append(path, "\n")
    assert follower.read(RESTED) == []
    append(path, "\ntwo\n")
    assert follower.read(RESTED) == [b"", b"two"]


def test_more_of_a_line_taken_unfinished_says_that_it_continues_it(path):
    append(path, "half")
    follower = Follower(path)
    assert [follower.read(now_ms) for now_ms in (NOW, RESTED)] == [[], [b"half"]]
    append(path, " a line\nnext\n")
    first, second = follower.lines(RESTED)
    assert (first.value, first.is_continuation, first.is_unfinished) == (b" a line", True, False)
    assert (second.value, second.is_continuation) == (b"next", False)


def test_line_taken_unfinished_is_remembered_by_the_resume_point(path):
    append(path, "half")
    first = Follower(path)
    assert [first.read(now_ms) for now_ms in (NOW, RESTED)] == [[], [b"half"]]
    append(path, "\r\nnext\n")
    assert Follower(path, first.offset).read() == [b"next"]
    path.write_text("half and more\n")
    (more,) = Follower(path, first.offset).lines()
    assert (more.value, more.is_continuation) == (b" and more", True)


def test_half_of_a_line_end_waits_for_the_other_half(path):
    append(path, "one\r")
    follower = Follower(path)
    assert [follower.read(now_ms) for now_ms in (NOW, RESTED, RESTED + REST_MS)] == [[], [b"one"], []]
    append(path, "\ntwo\r\n")
    assert follower.read(RESTED) == [b"two"]


def test_who_wants_whole_lines_only_waits_for_ever(path):
    append(path, "one\ntwo")
    follower = Follower(path, rest_ms=0)
    assert [follower.read(now_ms) for now_ms in (NOW, RESTED, 100 * RESTED)] == [[b"one"], [], []]


def test_end_of_a_rotated_file_continues_what_was_taken_of_it(path):
    append(path, "half")
    follower = Follower(path)
    assert [follower.read(now_ms) for now_ms in (NOW, RESTED)] == [[], [b"half"]]
    rotated = path.with_name("access.log.1")
    path.rename(rotated)
    append(path, "new\n")
    append(rotated, "more")
    assert follower.read(RESTED) == []
    (more,) = follower.lines(RESTED + ROTATION_GRACE_MS)
    assert (more.value, more.is_continuation) == (b"more", True)
    assert follower.read(RESTED + ROTATION_GRACE_MS) == [b"new"]


class Deed(Enum):
    REST = "rest"
    RESTART = "restart"


_TEXT = st.text("ab\r\n", max_size=12)
_DEEDS = st.lists(st.one_of(_TEXT, st.sampled_from(list(Deed))), max_size=12)


@given(_DEEDS)
def test_whatever_is_written_and_whenever_it_rests_every_line_comes_once(deeds):
    """Writes, rests and restarts in any order: pieces put together by what they say of themselves are the lines."""
    with tempfile.TemporaryDirectory() as directory:
        path, now_ms, taken, written = Path(directory) / "file", NOW, [], ""
        path.touch()
        follower = Follower(path, max_line_bytes=5)
        for deed in [*deeds, Deed.REST]:
            if deed is Deed.RESTART:
                follower.tail.close()
                follower = Follower(path, follower.offset, max_line_bytes=5)
            elif isinstance(deed, str):
                append(path, deed)
                written += deed
            taken += follower.lines(now_ms)
            now_ms += REST_MS if deed is Deed.REST else 0
            taken += follower.lines(now_ms)
        follower.tail.close()
    assert joined(taken) == lines_of(written)


def joined(pieces: list[TailedLine]) -> list[bytes]:
    lines: list[bytes] = []
    is_open = False
    for piece in pieces:
        assert piece.value or not piece.is_continuation, "nothing is said of an end alone"
        if is_open or piece.is_continuation:
            lines[-1] += piece.value
        else:
            lines.append(piece.value)
        is_open = piece.continues
    return lines


def lines_of(text: str) -> list[bytes]:
    """The last one without an end too, if there is any of it."""
    *whole, last = text.encode().split(b"\n")
    unfinished = last.removesuffix(b"\r")
    return [line.removesuffix(b"\r") for line in whole] + ([unfinished] if unfinished else [])
