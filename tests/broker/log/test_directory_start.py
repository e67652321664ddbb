"""What a log directory notes of the starts that served it."""

import errno
from pathlib import Path
from uuid import UUID

import pytest

from broker.common.types import TopicPartition
from broker.log import found_logs
from broker.log.config import LogConfig
from broker.log.directory_start import START_FILE, DirectoryStart, read_directory_start, write_directory_start
from broker.log.manager import LogManager

T0 = TopicPartition("t", 0)


def test_what_is_noted_is_read_again(tmp_path):
    write_directory_start(tmp_path, DirectoryStart("an id", 7))
    assert read_directory_start(tmp_path) == DirectoryStart("an id", 7)


@pytest.mark.parametrize(
    "content", [None, b"", b"\xff\xfe", b"version=0\nstart.number=3\n", b"version=0\ndirectory.id=a\nstart.number=x\n"]
)
def test_a_note_that_is_missing_or_not_understood_is_that_of_a_new_directory(tmp_path, content):
    if content is not None:
        (tmp_path / START_FILE).write_bytes(content)
    starts = {read_directory_start(tmp_path) for _ in range(2)}
    assert {start.number for start in starts} == {0}
    assert len({start.directory_id for start in starts}) == 2


def test_a_copy_beside_its_original_gets_an_id_of_its_own(tmp_path):
    logs = LogManager([tmp_path / "one", tmp_path / "copy"], LogConfig(), 1, "cluster")
    logs.load_all()
    for name in ("one", "copy"):
        write_directory_start(tmp_path / name, DirectoryStart("same", 4))
    logs.doubt_restored({"same": 4})
    noted = logs.note_start({"same": 4})
    assert (noted["same"], sorted(noted.values())) == (5, [5, 5])
    assert logs.restored == set()
    logs.shutdown()


def test_the_later_served_of_two_directories_keeps_the_id_and_the_copy_is_named(tmp_path, capsys):
    logs = two_directories_with_one_id(tmp_path, copy=3, one=4)
    logs.doubt_restored({"same": 4})
    noted = logs.note_start({"same": 4})
    assert read_directory_start(tmp_path / "one") == DirectoryStart("same", 5)
    copy = read_directory_start(tmp_path / "copy")
    assert noted == {"same": 5, copy.directory_id: 5}
    assert [line for line in capsys.readouterr().out.splitlines() if copy.directory_id in line and "/copy" in line]
    logs.shutdown()


@pytest.mark.parametrize("refused", ["one", "copy"])
def test_two_directories_with_one_id_do_not_doubt_each_other_though_one_cannot_be_noted(tmp_path, monkeypatch, refused):
    logs = two_directories_with_one_id(tmp_path, copy=4, one=4)
    logs.doubt_restored({"same": 4})
    write = write_directory_start

    def write_unless_refused(directory: Path, start: DirectoryStart) -> None:
        if directory.name == refused:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(directory, start)

    monkeypatch.setattr(found_logs, "write_directory_start", write_unless_refused)
    last_starts = {"same": 4} | logs.note_start({"same": 4})
    logs.shutdown()
    logs = LogManager([tmp_path / "copy", tmp_path / "one"], LogConfig(), 1, "cluster")
    logs.load_all()
    logs.doubt_restored(last_starts)
    assert logs._restored_directories == set()
    logs.shutdown()


def two_directories_with_one_id(tmp_path: Path, **numbers: int) -> LogManager:
    logs = LogManager([tmp_path / name for name in numbers], LogConfig(), 1, "cluster")
    logs.load_all()
    for name, number in numbers.items():
        write_directory_start(tmp_path / name, DirectoryStart("same", number))
    return logs


def test_a_directory_that_cannot_be_noted_is_left_out_and_not_doubted_at_the_next_start(tmp_path, monkeypatch):
    def start() -> tuple[LogManager, dict[str, int]]:
        logs = LogManager([tmp_path / "one"], LogConfig(), 1, "cluster")
        logs.load_all()
        logs.get_or_create(T0, UUID(int=1))
        logs.doubt_restored(last_starts)
        noted = logs.note_start(last_starts)
        logs.shutdown()
        return logs, noted

    last_starts: dict[str, int] = {}
    _, last_starts = start()
    assert list(last_starts.values()) == [1]
    with monkeypatch.context() as full:
        full.setattr(found_logs, "write_directory_start", _no_room)
        assert start()[1] == {}
    logs, noted = start()
    assert (logs.restored, list(noted.values())) == (set(), [2])


def _no_room(*_arguments: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
