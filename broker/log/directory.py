"""One of a broker's log directories (`log.dirs`): whose it is, how it was left, and what lies in it.

Besides a directory per partition it holds `.lock` (flock, so that it goes with the process; in it, at which start of
the machine the directory was last served), `meta.properties` (which broker of which cluster), `.kafka_cleanshutdown`
(there only between a clean stop and the next start) and checkpoints.
"""

import errno
import fcntl
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4
from zlib import crc32

from broker.common.errors import ApiError, ErrorCode, NotNowError, StartupError
from broker.common.limits import TOPIC_NAME_LENGTH_MAX
from broker.common.logs import logger
from broker.common.topic_names import is_partition
from broker.common.types import TopicPartition
from broker.log.checkpoints import (
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    read_meta_properties,
    write_meta_properties,
)
from broker.log.clean_marker import decode_clean_marker, encode_clean_marker
from broker.log.compaction.checkpoint import CLEANER_OFFSET_CHECKPOINT
from broker.log.files import (
    fsync_file,
    is_full,
    is_of_one_path,
    lacks_descriptors,
    lacks_room,
    open_directory,
    remove_file_durably,
    remove_tree,
    replace_file,
    tree_bytes,
)
from broker.log.last_stop import LastStop
from broker.log.offset_checkpoint import OffsetCheckpoint
from broker.log.room import DirectoryRoom
from broker.log.segment_files import LOG_SUFFIX

LOCK_FILE = ".lock"
CLEAN_SHUTDOWN_FILE = ".kafka_cleanshutdown"
DELETE_SUFFIX = "-delete"
STRAY_SUFFIX = "-stray"
#: Of the directory of a copy that is to be the log, as Kafka has it (KIP-113).
FUTURE_SUFFIX = "-future"
#: In the directory of a log whose copy is about to take its place: the path of the log directory that has the copy.
MOVED_TO = "moved-to"

_FILE_NAME_BYTES_MAX = 255
_PARTITION_DIRECTORY = re.compile(rf"([a-zA-Z0-9._-]{{1,{TOPIC_NAME_LENGTH_MAX}}})-(0|[1-9][0-9]*)")
_DELETED_DIRECTORY = re.compile(rf".*\.[0-9a-f]{{32}}{DELETE_SUFFIX}")
_FUTURE_DIRECTORY = re.compile(rf"{_PARTITION_DIRECTORY.pattern}\.[0-9a-f]{{32}}{FUTURE_SUFFIX}")
_STRAY_DIRECTORY = re.compile(rf"(.*)\.[0-9a-f]{{32}}{STRAY_SUFFIX}")

_log = logger(__name__)


#: Linux draws one each time the machine starts.
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_BOOT_ID_BYTES_MAX = 64
#: In its place, no start of any machine.
_DAMAGED = b"damaged"


class CopyFacts(NamedTuple):
    """What tells a log from one that was only begun to be made; of two copies the greater is the log."""

    holds_batches: bool
    #: Of its last segment, -1 if there is none.
    base_offset: int
    has_topic_id: bool
    #: Another directory has the log, if the partition lies there.
    is_moved: bool = False


class UnusableDirectoryError(StartupError):
    """The disk refused; another directory may do."""


class LogDirectory:
    """Locked from construction to `unlock`."""

    def __init__(self, path: Path):
        """Make `path` if missing and lock it. Raises StartupError, UnusableDirectoryError."""
        self.path = path
        #: Whether every log in it was opened, without which nobody may say that it was left clean.
        self.is_loaded = False
        #: Where logs lie that were not recovered and have no note of that: a clean stop would hide it.
        self.unrecovered: set[Path] = set()
        #: How a clean stop left the segments of logs without gaps, see `segments_checksum`.
        self.left_segments: Mapping[TopicPartition, int] = {}
        self.logs_count = 0
        #: Why nothing in it is served any more; None while all is well.
        self.offline_reason: str | None = None
        self.room = DirectoryRoom()
        #: Directories here that were set aside as stray, by this start or an earlier one.
        self.strays: frozenset[Path] = frozenset()
        #: Of their files, when they were last looked for.
        self.stray_bytes = 0
        self.recovery_points = OffsetCheckpoint(path / RECOVERY_POINT_CHECKPOINT)
        self.log_start_offsets = OffsetCheckpoint(path / LOG_START_OFFSET_CHECKPOINT)
        self.high_watermarks = OffsetCheckpoint(path / REPLICATION_OFFSET_CHECKPOINT)
        #: As it was at the start; the cleaner has its own.
        self.cleaned_offsets = OffsetCheckpoint(path / CLEANER_OFFSET_CHECKPOINT)
        self._lock_fd = _lock(path)
        noted, self._boot = os.pread(self._lock_fd, _BOOT_ID_BYTES_MAX, 0), _boot_id()
        #: No broker has come to serve what is in it, so nothing is known of what should be in it.
        self.is_new = not noted
        #: The machine was restarted since the directory was last in use: what had not been fsynced may be gone.
        self.lost_page_cache = noted not in (b"", self._boot)
        #: Logs were here at the start, and not the checkpoints that speak of them: they may come from a backup.
        self.lacks_checkpoints = False

    def unlock(self) -> None:
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def note_machine_start(self) -> None:
        """Note that this machine start has been handled, so that lost page cache is not reported again.

        Raises OSError.
        """
        os.ftruncate(self._lock_fd, os.pwrite(self._lock_fd, self._boot, 0))
        os.fsync(self._lock_fd)

    def note_damage(self) -> None:
        """Note that a log here has lost its end: unless that is dealt with before a kill, the next start has to doubt
        all of them, for it finds that log whole. Raises OSError.
        """
        os.ftruncate(self._lock_fd, os.pwrite(self._lock_fd, _DAMAGED, 0))
        os.fsync(self._lock_fd)

    def check_claim(self, broker_id: int, cluster_id: str | None) -> bool:
        """Return whether the directory is noted as this broker's (False: as no broker's), in this cluster if given.

        Nothing is written. Raises StartupError if it belongs to another broker or cluster, or cannot tell,
        UnusableDirectoryError if the disk refuses, NotNowError for want of descriptors.
        """
        with self._claiming():
            known = read_meta_properties(self.path / META_PROPERTIES)
        if known.get("broker.id", str(broker_id)) != str(broker_id):
            raise StartupError(
                f"The log directory {self.path} belongs to broker {known['broker.id']}, not to broker {broker_id}: "
                "correct broker.id or log.dirs."
            )
        if cluster_id is not None and known.get("cluster.id", cluster_id) != cluster_id:
            raise StartupError(
                f"The log directory {self.path} belongs to cluster {known['cluster.id']}, not to {cluster_id}: "
                "correct zookeeper.connect or log.dirs."
            )
        return "broker.id" in known and (cluster_id is None or "cluster.id" in known)

    def claim(self, broker_id: int, cluster_id: str) -> None:
        """Note whose the directory is, once `check_claim` has not refused it. Raises as that."""
        path = self.path / META_PROPERTIES
        with self._claiming():
            known = read_meta_properties(path)
            claimed = {**known, "broker.id": str(broker_id), "cluster.id": cluster_id}
            if claimed != known:
                write_meta_properties(path, claimed)

    @contextmanager
    def _claiming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = f"The log directory {self.path} cannot be claimed: {error.strerror}."
            if lacks_descriptors(error) or lacks_room(error):
                raise NotNowError(f"{reason} Start the broker again.") from error
            raise UnusableDirectoryError(reason) from error

    def take_clean_marker(self) -> bool:
        """Return whether the last stop was clean. The marker is gone afterwards: from now on, only a clean stop makes
        one.
        """
        path = self.path / CLEAN_SHUTDOWN_FILE
        with suppress(FileNotFoundError):
            self.left_segments = decode_clean_marker(path.read_bytes())
        return remove_file_durably(path)

    def leave_clean(
        self,
        recovery_points: Mapping[TopicPartition, int],
        starts: Mapping[TopicPartition, int],
        checksums: Mapping[TopicPartition, int],
    ) -> None:
        """Say that every log in the directory is flushed and closed. The marker is written last.

        `starts` are of all logs, for the next start to know whether a first segment is missing (`find_lost_start`);
        `checksums` of the segments of logs without gaps.
        """
        self.recovery_points.store(lambda: recovery_points)
        self.log_start_offsets.note(lambda: starts)
        marker = self.path / CLEAN_SHUTDOWN_FILE
        try:
            replace_file(marker, encode_clean_marker(checksums))
        except OSError as error:
            if not lacks_room(error):
                raise
            replace_file(marker, b"")

    def load_checkpoints(self, *, has_logs: bool) -> None:
        """Read them, and doubt the logs that are here if some are missing. Raises OSError."""
        for checkpoint in (self.recovery_points, self.log_start_offsets, self.high_watermarks, self.cleaned_offsets):
            checkpoint.load()
        self._look_for_missing_checkpoints(has_logs=has_logs)

    def _look_for_missing_checkpoints(self, *, has_logs: bool) -> None:
        """Doubt the logs here if a checkpoint that speaks of each of them is missing, and have that outlast a kill.

        It is written at once: a directory has both from its first start on, Kafka's after a minute or a clean stop.
        Raises OSError.
        """
        missing = [checkpoint for checkpoint in (self.recovery_points, self.high_watermarks) if checkpoint.is_missing]
        self.lacks_checkpoints = has_logs and bool(missing)
        try:
            if self.lacks_checkpoints:
                _log.error("offset checkpoints are missing: logs may have lost their ends", path=str(self.path))
                self.note_damage()
            for checkpoint in missing:
                checkpoint.store(dict)
        except OSError as error:
            if not is_full(error):
                raise
            _log.warning("missing offset checkpoints not written", path=str(self.path), reason=str(error))

    def may_have_lost_tail(self, partition: TopicPartition, log_end_offset: int, stop: LastStop) -> bool:
        """Return whether the log of `partition` may have ended beyond `log_end_offset` before the stop.

        What was in the page cache survives the process, not the machine; how much that was nobody knows afterwards. A
        log that is shorter than was noted of it has been damaged, however it was left.
        """
        if self.lacks_checkpoints or (stop.lost_page_cache and not stop.is_clean):
            return True
        return log_end_offset < max(self.recovery_points.get(partition), self.high_watermarks.get(partition))

    def forget(self, partition: TopicPartition) -> None:
        """Forget what was noted under a partition's name, before a new one of that name is made. Raises OSError."""
        for checkpoint in (self.recovery_points, self.log_start_offsets, self.high_watermarks):
            checkpoint.forget(partition)

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions with a directory here, sorted. Other directories are logged and left alone."""
        partitions = []
        for entry in self.path.iterdir():
            match = _PARTITION_DIRECTORY.fullmatch(entry.name)
            found_one = match and TopicPartition(match[1], int(match[2]))
            if (
                not entry.is_dir()
                or _DELETED_DIRECTORY.fullmatch(entry.name)
                or _FUTURE_DIRECTORY.fullmatch(entry.name)
            ):
                continue
            if _STRAY_DIRECTORY.fullmatch(entry.name):
                _log.warning("stray log, set aside earlier; remove it when it is not needed", path=str(entry))
            elif not found_one or not is_partition(found_one):
                _log.warning("directory is no partition's, ignored", path=str(entry))
            else:
                partitions.append(found_one)
        return sorted(partitions)

    def find_strays(self) -> None:
        """Look again which strays are here, and how large: an operator may have removed some. Raises OSError."""
        self.strays = frozenset(entry for entry in self.path.iterdir() if _STRAY_DIRECTORY.fullmatch(entry.name))
        self.stray_bytes = sum(map(tree_bytes, self.strays))

    def futures(self) -> list[tuple[TopicPartition, Path]]:
        """Return the copies that lie here and are to be logs, sorted, and where. Raises OSError."""
        futures = []
        for entry in self.path.iterdir():
            match = _FUTURE_DIRECTORY.fullmatch(entry.name)
            partition = match and TopicPartition(match[1], int(match[2]))
            if partition and is_partition(partition) and entry.is_dir():
                futures.append((partition, entry))
        return sorted(futures)

    def path_of_future(self, partition: TopicPartition) -> Path:
        """Return the path for a copy of the partition's log.

        Raises ApiError if the name would be too long, as Kafka does.
        """
        name = f"{partition}.{uuid4().hex}{FUTURE_SUFFIX}"
        if not is_partition(partition) or len(name) > _FILE_NAME_BYTES_MAX:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{str(partition)!r:.300} cannot have a copy")
        return self.path / name

    def path_of(self, partition: TopicPartition) -> Path:
        """Return the path of the partition's log, always below this directory.

        Raises ApiError for an invalid partition name.
        """
        if not is_partition(partition) or len(str(partition)) > _FILE_NAME_BYTES_MAX:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{str(partition)!r:.300} cannot have a directory")
        return self.path / str(partition)

    def is_to_blame(self, error: OSError) -> bool:
        """Return whether the disk has failed, and not only what was to be done with one path in it."""
        is_just_missing = error.errno == errno.ENOENT and self.path.is_dir()
        return not (is_full(error) or is_of_one_path(error) or is_just_missing)

    def copy_facts(self, partition: TopicPartition) -> CopyFacts:
        """Return what lies under the partition's name, if anything. Files that replace others or were replaced count as
        batches: whoever has them was a log. Raises OSError.
        """
        path = self.path_of(partition)
        holds_batches = any(file.stat().st_size for file in path.glob(f"*{LOG_SUFFIX}*"))
        base_offsets = [int(file.stem) for file in path.glob("*" + LOG_SUFFIX) if file.stem.isdigit()]
        has_topic_id, is_moved = (path / PARTITION_METADATA).exists(), (path / MOVED_TO).exists()
        return CopyFacts(holds_batches, max(base_offsets, default=-1), has_topic_id, is_moved)

    def set_aside_as_stray(self, partition: TopicPartition, reason: str, path: Path | None = None) -> Path:
        """Rename the partition's directory, or `path`, durably, report it, and return its new path.

        No start opens a stray, retention does not look at it and nothing removes it. Raises OSError, then nothing was
        renamed, unless the disk fails.
        """
        aside = self.set_aside(partition, STRAY_SUFFIX, path)
        self.strays |= {aside}
        _log.warning(
            "log set aside as stray; remove it when its records are not needed",
            partition=str(partition),
            path=str(aside),
            reason=reason,
        )
        return aside

    def set_aside(self, partition: TopicPartition, why: str, path: Path | None = None) -> Path:
        """Rename durably, as `rename_aside` does."""
        names = open_directory(self.path)  # before the renaming: later there may be no descriptor
        aside = self.rename_aside(partition, why, path)
        fsync_file(names)
        return aside

    def rename_aside(self, partition: TopicPartition, why: str, path: Path | None = None) -> Path:
        """Rename the partition's directory, or `path`, so that no start takes it for one; the files are still there.

        `why` is DELETE_SUFFIX, and it is deleted whatever happens next, or STRAY_SUFFIX. Raises OSError.
        """
        return (path or self.path_of(partition)).rename(self.path / aside_name(str(partition), why))

    def purge_leftovers(self) -> None:
        """Remove what `set_aside` left when the process stopped before it was purged."""
        for entry in self.path.iterdir():
            if _DELETED_DIRECTORY.fullmatch(entry.name):
                remove_tree(entry)


def aside_name(name: str, why: str) -> str:
    """Return a new name for what has the name of a partition's directory; `why` as for `rename_aside`."""
    return f"{_stem(name, why)}.{uuid4().hex}{why}"


def is_stray_of(entry: str, name: str) -> bool:
    """Return whether `aside_name` has made `entry` of `name`, for STRAY_SUFFIX."""
    match = _STRAY_DIRECTORY.fullmatch(entry)
    return match is not None and match[1] == _stem(name, STRAY_SUFFIX)


def find_strays_of(strays: Iterable[Path], names: Iterable[str]) -> dict[str, list[Path]]:
    """Return those of `strays` that have names which `aside_name` has made of `names`, sorted, by the latter."""
    names_by_stem = {_stem(name, STRAY_SUFFIX): name for name in names}
    paths: dict[str, list[Path]] = {}
    for stray in sorted(strays):
        match = _STRAY_DIRECTORY.fullmatch(stray.name)
        name = names_by_stem.get(match[1]) if match else None
        if name is not None:
            paths.setdefault(name, []).append(stray)
    return paths


def _stem(name: str, why: str) -> str:
    """Return `name`, or where that leaves no room for the rest: the beginning of the topic's name, a checksum, and the
    partition. No topic has a tilde in its name.
    """
    room = _FILE_NAME_BYTES_MAX - len(f".{uuid4().hex}{why}")
    if len(name) <= room:
        return name
    topic, dash, number = name.rpartition("-")
    rest = f"~{crc32(name.encode()):08x}{dash}{number}"
    return topic[: room - len(rest)] + rest


def _lock(path: Path) -> int:
    try:
        path.mkdir(parents=True, exist_ok=True)
        fd = os.open(path / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UnusableDirectoryError(f"The log directory {path} cannot be used: {error.strerror}.") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise NotNowError(
            f"The log directory {path} is in use by another broker: stop that one, or give each its own log.dirs."
        ) from None
    return fd


def _boot_id() -> bytes:
    """Return this machine start's id; always the same on a system that does not tell."""
    try:
        return _BOOT_ID.read_bytes().strip()
    except OSError:
        return b"unknown"
