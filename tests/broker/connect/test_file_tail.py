"""Whatever happens to a followed file, each complete line comes once and in order."""

import os
from pathlib import Path

import pytest

from broker.connect.file_tail import ROTATION_GRACE_MS, FileTail

NOW = 1_000_000


class Follower:
    """A tail with the lines it gave, and its last resume point."""

    def __init__(self, path: Path, resume_at=None, max_line_bytes: int = 100):
        self.tail = FileTail(path, max_line_bytes, resume_at)
        self.offset = resume_at

    def read(self, now_ms: int = NOW, max_lines: int = 100, max_bytes: int = 10_000) -> list[bytes]:
        lines = self.tail.read_lines(now_ms, max_lines, max_bytes)
        if lines:
            self.offset = lines[-1].offset
        return [line.value for line in lines]


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
    tail = FileTail(path, 100)
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
    assert FileTail(tmp_path, 100).read_lines(NOW, 10, 100) == []
