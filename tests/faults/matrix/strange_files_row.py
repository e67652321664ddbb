"""Files of a stopped broker as other hands leave them: removed, renamed, copied, truncated, and strange ones."""

import shutil
from collections.abc import Callable
from pathlib import Path

from broker.common.types import TopicPartition
from broker.log.checkpoints import REPLICATION_OFFSET_CHECKPOINT, read_offset_checkpoint
from tests.barnabas_cluster import await_true
from tests.faults.matrix.foreign_hands import ALL_REPLICAS, KeptTopic
from tests.faults.matrix.log_files import replica_directory, segments, truncate
from tests.faults.matrix.stage import Stage

#: The preferred leader of all of them.
_VICTIM = ALL_REPLICAS[0]
_SEGMENT_BYTES = "4000"


def disturb(stage: Stage) -> None:
    """One broker is stopped, and each of its logs is treated in another way; then it starts, and follows the others.

    Afterwards it leads each of them, so that what is read is its own.
    """
    topics = {
        name: KeptTopic(stage, name, segment_bytes=_SEGMENT_BYTES, min_insync_replicas="1") for name in _TREATMENTS
    }
    logs = stage.broker(_VICTIM).directory / "logs"
    await_true(lambda: _is_noted(logs, "truncated"), "it is noted how far the log that will be cut short reached", 30)
    stage.kill_and_expire(_VICTIM)
    donor = stage.others(_VICTIM)[0]
    for name, treat in _TREATMENTS.items():
        own = replica_directory(stage.broker(_VICTIM), name, 0)
        treat(own, replica_directory(stage.broker(donor), name, 0))
        stage.note(f"{name}: {treat.__doc__}")
    _leave_strange_things(logs)
    stage.heal()
    stage.await_whole()
    for name, topic in topics.items():
        stage.lead_as_preferred(name)
        topic.expect_usable(name)


def _is_noted(logs: Path, topic: str) -> bool:
    """Whether the last segment begins below the noted high watermark."""
    noted = read_offset_checkpoint(logs / REPLICATION_OFFSET_CHECKPOINT).get(TopicPartition(topic, 0), 0)
    return noted > int(segments(logs / f"{topic}-0")[-1].stem)


def _without_indexes(own: Path, _other: Path) -> None:
    """All index files are removed."""
    for suffix in ("index", "timeindex", "txnindex"):
        for path in own.glob(f"*.{suffix}"):
            path.unlink()


def _renamed(own: Path, _other: Path) -> None:
    """The directory is renamed by an operator."""
    own.rename(own.with_name(f"{own.name}.old"))


def _removed(own: Path, _other: Path) -> None:
    """The directory is removed."""
    shutil.rmtree(own)


def _copied(own: Path, other: Path) -> None:
    """The directory is replaced by a copy of another broker's, made while that was at work."""
    shutil.rmtree(own)
    shutil.copytree(other, own)


def _truncated(own: Path, _other: Path) -> None:
    """The last segment is empty."""
    truncate(segments(own)[-1], 0)


def _emptied(own: Path, _other: Path) -> None:
    """A segment in the middle is empty."""
    _first, middle, *_between, _last = segments(own)
    truncate(middle, 0)


def _without_a_segment(own: Path, _other: Path) -> None:
    """A segment in the middle is removed, with its indexes."""
    _first, middle, *_between, _last = segments(own)
    for path in own.glob(f"{middle.stem}.*"):
        path.unlink()


def _with_backups(own: Path, _other: Path) -> None:
    """Copies of the segments lie beside them under other names."""
    for path in segments(own):
        shutil.copy(path, path.with_suffix(".log.bak"))
        shutil.copy(path, own / f"copy of {path.name}")


_TREATMENTS: dict[str, Callable[[Path, Path], None]] = {
    "without-indexes": _without_indexes,
    "renamed": _renamed,
    "removed": _removed,
    "copied": _copied,
    "truncated": _truncated,
    "emptied": _emptied,
    "without-a-segment": _without_a_segment,
    "with-backups": _with_backups,
}


def _leave_strange_things(logs: Path) -> None:
    """What a backup, an editor or a file system puts there."""
    (logs / "lost+found").mkdir()
    (logs / "notes.txt").write_text("the disk was changed in May")
    (logs / "not a partition-x").mkdir()
    (logs / "server.properties.swp").write_bytes(b"\x00" * 100)


#: What is no log is named, and so is a log that has become shorter than the broker's own notes say, or has a hole.
TOLD = (r'event="log may have lost its end"', r'event="offsets are missing', "lost.found")
