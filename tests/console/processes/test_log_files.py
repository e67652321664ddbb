"""Logs do not grow for ever and are read from their end."""

import errno

from console.processes import log_files
from console.processes.log_files import bound_log, last_line, old_log, tail_lines


def test_a_large_log_is_moved_aside_and_a_running_writer_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(log_files, "LOG_BYTES_MAX", 100)
    path = tmp_path / "log"
    with open(path, "ab", buffering=0) as writer:
        writer.write(b"x" * 150)
        assert bound_log(path)
        writer.write(b"after\n")
    assert path.read_text() == "after\n"
    assert old_log(path, 1).read_bytes() == b"x" * 150


def test_only_so_many_old_logs_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(log_files, "LOG_BYTES_MAX", 10)
    path = tmp_path / "log"
    for letter in "abcd":
        path.write_text(letter * 20)
        bound_log(path)
    kept = sorted(file.name for file in tmp_path.iterdir())
    assert kept == ["log", "log.1", "log.2"]
    assert old_log(path, 1).read_text() == "d" * 20
    assert old_log(path, 2).read_text() == "c" * 20


def test_a_full_disk_costs_the_old_log_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(log_files, "LOG_BYTES_MAX", 10)

    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(log_files.shutil, "copyfile", refuse)
    path = tmp_path / "log"
    path.write_text("x" * 20)
    assert bound_log(path)
    assert [(file.name, file.stat().st_size) for file in tmp_path.iterdir()] == [("log", 0)]


def test_a_small_log_is_left_alone(tmp_path):
    path = tmp_path / "log"
    path.write_text("short")
    assert not bound_log(path)
    assert not bound_log(tmp_path / "nothing")


def test_a_tail_is_the_last_lines_and_bounded_in_bytes(tmp_path):
    path = tmp_path / "log"
    path.write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert tail_lines(path, 2) == ["line 99998", "line 99999"]
    path.write_text("y" * 500_000 + "\nlast\n")
    assert tail_lines(path) == ["last"]


def test_bytes_that_are_no_text_do_not_break_the_tail(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"\xff\xfe bad\n\n")
    assert tail_lines(path)[0].endswith(" bad")
    assert last_line(path).endswith("bad")


def test_no_file_is_no_lines(tmp_path):
    assert tail_lines(tmp_path / "nothing") == []
    assert last_line(tmp_path / "nothing") == ""
