"""What lies in this broker's log directories, and how full their volumes are.

One that is offline tells nothing else: its disk may still say how large it is, and what lay in it nobody serves.
"""

import asyncio
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.log.files import tree_bytes
from broker.log.manager import LogManager
from broker.runtime.replication.replica_manager import ReplicaManager

_UNKNOWN = -1


@dataclass(slots=True)
class LogDir:
    """One directory; sizes are -1 when the volume cannot be asked."""

    path: str
    partitions: dict[TopicPartition, int] = field(default_factory=dict)
    #: Copies on their way to this directory: their size, and how many offsets the log is ahead.
    futures: dict[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    total_bytes: int = _UNKNOWN
    usable_bytes: int = _UNKNOWN
    #: See `broker.log.room`.
    is_full: bool = False
    #: Logs that were set aside in it (`-stray`): how many, and their bytes.
    stray_count: int = 0
    stray_bytes: int = 0
    error_code: ErrorCode = ErrorCode.NONE


class LogDirs:
    """The directories of `log.dirs`."""

    def __init__(self, paths: list[Path], replicas: ReplicaManager, logs: LogManager):
        self._paths = [path.absolute() for path in paths]
        self._replicas = replicas
        self._logs = logs

    def uncleanable(self) -> list[tuple[TopicPartition, str]]:
        """Return the partitions that the cleaner compacts no more since a pass failed, and why, sorted."""
        return sorted(self._logs.uncleanable.items())

    async def describe(self) -> list[LogDir]:
        log_dirs = {path: LogDir(str(path)) for path in self._paths}
        for hosted in self._replicas:
            home = log_dirs.get(hosted.log.directory.parent.absolute())
            if home is not None:
                home.partitions[hosted.partition.topic_partition] = hosted.log.size_bytes
        for topic_partition, future in self._logs.futures.items():
            home, log = log_dirs.get(future.home.path.absolute()), self._logs.get(topic_partition)
            if home is not None and log is not None:
                lag = max(0, log.log_end_offset - future.log.log_end_offset)
                home.futures[topic_partition] = (future.log.size_bytes, lag)
        for path, room in self._logs.rooms.items():
            if (home := log_dirs.get(path.absolute())) is not None:
                home.is_full = room.is_full
        offline = {path.absolute() for path in self._logs.offline_directories}
        online = {path: item for path, item in log_dirs.items() if path not in offline}
        await asyncio.to_thread(_measure, online, [path.absolute() for path in self._logs.strays])
        for path in offline & log_dirs.keys():
            log_dirs[path] = LogDir(str(path), error_code=ErrorCode.KAFKA_STORAGE_ERROR)
        return list(log_dirs.values())


def _measure(log_dirs: dict[Path, LogDir], strays: list[Path]) -> None:
    for stray in strays:
        if (home := log_dirs.get(stray.parent)) is not None and stray.is_dir():
            home.stray_count += 1
            home.stray_bytes += tree_bytes(stray)
    for path, log_dir in log_dirs.items():
        try:
            usage = shutil.disk_usage(path)
        except OSError:
            log_dir.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        else:
            log_dir.total_bytes, log_dir.usable_bytes = usage.total, usage.free
