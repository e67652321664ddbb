"""What a broker says of its log directories, offline ones too."""

import shutil

import pytest

from broker.common.errors import ErrorCode
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.log_dirs import LogDirs
from broker.runtime.replication.replica_manager import ReplicaManager
from tests.manual_clock import ManualClock


@pytest.fixture
def rooms(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    logs, clock = LogManager(paths, LogConfig(), 1, "cluster"), ManualClock()
    logs.load_all()
    yield logs, LogDirs(paths, ReplicaManager(1, logs, DelayedFetches(clock), clock), logs)
    logs.shutdown()


async def test_a_directory_tells_how_much_room_its_volume_has(rooms):
    _, log_dirs = rooms
    for directory in await log_dirs.describe():
        assert directory.error_code is ErrorCode.NONE
        assert 0 < directory.usable_bytes <= directory.total_bytes


async def test_an_offline_directory_is_told_though_its_disk_still_answers(rooms, monkeypatch, tmp_path):
    logs, log_dirs = rooms
    monkeypatch.setattr(type(logs), "offline_directories", {tmp_path / "b": "the disk refused a write"})
    fine, offline = await log_dirs.describe()
    assert fine.error_code is ErrorCode.NONE
    assert (offline.error_code, offline.total_bytes) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)


async def test_a_full_directory_says_so_until_it_has_room_again(rooms, tmp_path):
    logs, log_dirs = rooms
    logs.rooms[tmp_path / "b"].refused(0)
    assert [directory.is_full for directory in await log_dirs.describe()] == [False, True]
    logs.rooms[tmp_path / "b"].is_full = False
    assert [directory.is_full for directory in await log_dirs.describe()] == [False, False]


async def test_a_directory_tells_how_many_logs_were_set_aside_in_it_until_they_are_removed(rooms, tmp_path):
    logs, log_dirs = rooms
    stray = tmp_path / "b" / "orders-0.0123456789abcdef0123456789abcdef-stray"
    (stray / "inner").mkdir(parents=True)
    for name, size in (("a.log", 700), ("inner/b.log", 300)):
        (stray / name).write_bytes(bytes(size))
    logs.find_strays()
    assert [(directory.stray_count, directory.stray_bytes) for directory in await log_dirs.describe()] == [
        (0, 0),
        (1, 1000),
    ]
    assert logs.stray_bytes == {tmp_path / "a": 0, tmp_path / "b": 1000}
    shutil.rmtree(stray)
    assert [(directory.stray_count, directory.stray_bytes) for directory in await log_dirs.describe()] == [
        (0, 0),
        (0, 0),
    ]
