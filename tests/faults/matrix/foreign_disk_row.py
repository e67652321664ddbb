"""A log directory that is not the broker's to write: a read-only disk, one that becomes so, files of another user.

Each time the broker says so in one sentence and is not there, others lead, and nothing in the directory changes; when
the directory is right again, it starts and follows.
"""

import os
import shutil
import subprocess
from pathlib import Path

from tests.barnabas_cluster import await_true
from tests.faults.matrix.disk_row import missing_for_a_small_disk
from tests.faults.matrix.foreign_hands import KeptTopic
from tests.faults.matrix.log_files import replica_directory
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

#: The broker whose log directory is a file system of its own.
_VICTIM = 2
_NOBODY = 65_534
#: A root without the right to pass over the owner of a file, which is what a service account is.
_WITHOUT_OVERRIDE = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
#: Files are made and renamed in the log directory all the time.
RESTLESS = {"log.flush.scheduler.interval.ms": "300", "log.flush.offset.checkpoint.interval.ms": "300"}
TOLD = ("Read-only file system", "Permission denied")


def missing() -> str:
    """What this machine lacks; nothing if it can play the row."""
    return missing_for_a_small_disk() or ("" if shutil.which("setpriv") else "setpriv of util-linux")


def disturb(stage: Stage) -> None:
    """Records stay readable and topics writable while the broker is away and after it is back."""
    kept = KeptTopic(stage, "kept-on-disks", min_insync_replicas="1")
    for what, deed in {
        "a read-only disk": _start_on_a_read_only_disk,
        "a disk that becomes read-only": _become_read_only,
        "files of another user": _start_on_files_of_another_user,
    }.items():
        deed(stage, stage.broker(_VICTIM).directory / "logs", kept)
        stage.start(_VICTIM)
        stage.broker(_VICTIM).await_healthy()
        stage.await_whole()
        kept.expect_usable(f"{what}, and its end")


def _start_on_a_read_only_disk(stage: Stage, logs: Path, kept: KeptTopic) -> None:
    stage.stop(_VICTIM)
    _mount("-o", "remount,ro", str(logs))
    _expect_refusal(stage, "Read-only file system", logs)
    kept.expect_usable("a start on a read-only disk")
    _mount("-o", "remount,rw", str(logs))


def _become_read_only(stage: Stage, logs: Path, kept: KeptTopic) -> None:
    """Files that are open can be written on, which is all that a kernel allows here; none is made or renamed."""
    _mount("--bind", str(logs), str(logs))
    try:
        _mount("-o", "remount,ro,bind", str(logs))
        stage.note(f"the disk of {_VICTIM} is read-only")
        kept.write()
        _await_end(stage, "it cannot write its only log directory")
        kept.expect_usable("a disk that became read-only")
    finally:
        subprocess.run(["umount", str(logs)], check=True)


def _start_on_files_of_another_user(stage: Stage, _logs: Path, kept: KeptTopic) -> None:
    """As a copy made by root leaves them, or a package that renamed its user."""
    stage.stop(_VICTIM)
    broker = stage.broker(_VICTIM)
    broker.command = (*_WITHOUT_OVERRIDE, *broker.command)
    directory = replica_directory(broker, kept.name, 0)
    _chown(directory, _NOBODY, 0o700)
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    _expect_refusal(stage, "Permission denied", directory)
    if before != {path.name: path.read_bytes() for path in directory.iterdir()}:
        stage.violations.append(f"files of another user in {directory} were changed")
    kept.expect_usable("a start on files of another user")
    _chown(directory, os.geteuid(), 0o755)


def _expect_refusal(stage: Stage, reason: str, path: Path) -> None:
    """The broker is started, names the path and the reason, and ends."""
    broker = stage.broker(_VICTIM)
    at = broker.log_path.stat().st_size
    stage.start(_VICTIM)
    _await_end(stage, reason)
    output = broker.log_path.read_bytes()[at:].decode()
    if not any(reason in line and str(path) in line for line in output.splitlines()):
        stage.violations.append(f"broker {_VICTIM} did not say {reason!r} of {path}: {output[-500:]}")


def _await_end(stage: Stage, why: str) -> None:
    await_true(lambda: stage.broker(_VICTIM).process.poll() is not None, f"it ends: {why}", WHOLE_WITHIN_S)
    if not stage.broker(_VICTIM).process.returncode:
        stage.violations.append(f"broker {_VICTIM} ended as if all were well: {why}")
    stage.note(f"{_VICTIM} has ended: {why}")


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def _chown(directory: Path, user: int, mode: int) -> None:
    for path in (directory, *directory.iterdir()):
        os.chown(path, user, -1)
    directory.chmod(mode)
