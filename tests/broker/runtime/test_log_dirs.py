"""What a broker says of its log directories, offline ones too."""

import pytest

from broker.common.clock import ManualClock
from broker.common.errors import ErrorCode
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.log_dirs import LogDirs
from broker.runtime.replication.replica_manager import ReplicaManager


@pytest.fixture
def rooms(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    logs, clock = LogManager(paths, LogConfig(), 1, "cluster"), ManualClock()
    logs.load_all()
    yield logs, LogDirs(paths, ReplicaManager(1, logs, DelayedFetches(clock), clock), logs)
    logs.shutdown()


async def test_a_directory_tells_how_much_room_its_volume_has(rooms):
    _, log_dirs = rooms
    for each in await log_dirs.describe():
        assert each.error_code is ErrorCode.NONE
        assert 0 < each.usable_bytes <= each.total_bytes


async def test_an_offline_directory_is_told_though_its_disk_still_answers(rooms, monkeypatch, tmp_path):
    logs, log_dirs = rooms
    monkeypatch.setattr(type(logs), "offline_directories", {tmp_path / "b": "the disk refused a write"})
    fine, offline = await log_dirs.describe()
    assert fine.error_code is ErrorCode.NONE
    assert (offline.error_code, offline.total_bytes) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)


async def test_a_full_directory_says_so_until_it_has_room_again(rooms, tmp_path):
    logs, log_dirs = rooms
    logs.rooms[tmp_path / "b"].refused(0)
    assert [each.is_full for each in await log_dirs.describe()] == [False, True]
    logs.rooms[tmp_path / "b"].is_full = False
    assert [each.is_full for each in await log_dirs.describe()] == [False, False]
