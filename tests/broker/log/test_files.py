"""Files are replaced whole, and descriptors live as long as they are used."""

import errno
import os

import pytest

from broker.log.files import SharedFile, is_full, read_at, remove_file_durably, remove_tree, replace_file, write_at


def test_replaced_file_holds_the_new_content_and_no_temporary_stays(tmp_path):
    path = tmp_path / "checkpoint"
    replace_file(path, b"old and long")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["checkpoint"]


def test_replacing_that_fails_half_way_leaves_the_old_content(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    replace_file(path, b"old")

    def failing(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", failing)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"


def test_new_content_is_synced_before_it_gets_the_name_and_the_name_after(tmp_path, monkeypatch):
    steps = []
    real_fsync, real_replace = os.fsync, type(tmp_path).replace
    monkeypatch.setattr("os.fsync", lambda fd: (steps.append(os.readlink(f"/proc/self/fd/{fd}")), real_fsync(fd)))
    monkeypatch.setattr(
        type(tmp_path), "replace", lambda source, target: (steps.append("rename"), real_replace(source, target))[1]
    )
    replace_file(tmp_path / "checkpoint", b"x")
    assert steps == [str(tmp_path / "checkpoint.tmp"), "rename", str(tmp_path)]


def test_short_writes_and_reads_are_continued(tmp_path, monkeypatch):
    file = SharedFile(tmp_path / "f", os.O_RDWR | os.O_CREAT)
    real_pwrite, real_pread = os.pwrite, os.pread
    monkeypatch.setattr("os.pwrite", lambda fd, data, at: real_pwrite(fd, bytes(data)[:3], at))
    write_at(file, bytearray(b"0123456789"), 2)
    monkeypatch.setattr("os.pread", lambda fd, length, at: real_pread(fd, min(4, length), at))
    assert read_at(file, 0, 12) == b"\0\x000123456789"
    assert read_at(file, 10, 50) == b"89"


def test_descriptor_closes_with_its_last_user(tmp_path):
    file = SharedFile(tmp_path / "f", os.O_RDWR | os.O_CREAT)
    fd, second_user = file.fd, file
    del file
    os.fstat(fd)
    del second_user
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_missing_file_raises_and_leaves_no_descriptor(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        SharedFile(tmp_path / "missing")
    assert len(os.listdir("/proc/self/fd")) == before


def test_removing_what_is_not_there_is_fine(tmp_path):
    (tmp_path / "f").touch()
    assert remove_file_durably(tmp_path / "f")
    assert not remove_file_durably(tmp_path / "f")
    remove_tree(tmp_path / "never was")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE])
def test_want_of_space_or_of_descriptors_says_nothing_of_the_disk(number):
    assert is_full(OSError(number, os.strerror(number)))
    assert not is_full(OSError(errno.EIO, "Input/output error"))
