"""One `up` per data directory: a lock that dies with its holder, and a file that says who holds it."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from broker.common.installation import IS_CHECKOUT
from console.kit.common.file_lock import exclusive, take
from console.processes.setup import SetupError

WAIT_POLL_S = 0.1
DOWN_COMMAND = "make down" if IS_CHECKOUT else "barnabas down"


class Claim(NamedTuple):
    """Descriptors: of the lock, and of the run and the data directory that were there when it was taken. These are the
    same wherever they are moved to, and while they are open no others, whatever is at their path by then.
    """

    lock: int
    #: -1 from a version that had none.
    run: int = -1
    data: int = -1

    @classmethod
    def parse(cls, text: str) -> "Claim":
        """Parse the claim from its text, for the program this one becomes. Raises ValueError."""
        return cls(*map(int, text.split(",")))

    def __str__(self) -> str:
        return ",".join(map(str, self))

    def inherit(self, *, is_inherited: bool) -> None:
        for descriptor in self:
            if descriptor >= 0:
                os.set_inheritable(descriptor, is_inherited)

    def close(self) -> None:
        for descriptor in self:
            os.close(descriptor)


@contextmanager
def claim_data_dir(run_directory: Path) -> Iterator[Claim]:
    """Claim the data directory for this block. SetupError if another process has it."""
    held = take(_lock_path(run_directory), wait=False)
    if held is None:
        raise SetupError(
            f"It is up already (pid {holder_pid(run_directory)}): use that one, or stop it with `{DOWN_COMMAND}`. "
            "A second one needs a BARNABAS_DATA of its own, and other ports."
        )
    claim = Claim(held, *(os.open(path, os.O_PATH | os.O_DIRECTORY) for path in (run_directory, run_directory.parent)))
    try:
        _pid_path(run_directory).write_text(str(os.getpid()))
        yield claim
    finally:
        claim.close()


def holder_pid(run_directory: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(_pid_path(run_directory).read_text())
    return None


def ask_to_stop(run_directory: Path, timeout_s: float) -> None:
    """Ask a running `up` to stop in order. SetupError if it does not within `timeout_s`."""
    pid = holder_pid(run_directory)
    if pid is not None and _has_open(pid, _lock_path(run_directory)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + timeout_s
    while is_claimed(run_directory):
        if time.monotonic() > deadline:
            raise SetupError(f"`up` (pid {holder_pid(run_directory)}) did not stop within {timeout_s:.0f} s.")
        time.sleep(WAIT_POLL_S)


def _has_open(pid: int, path: Path) -> bool:
    """Return whether the process has the file open; a pid may be reused by another process."""
    with suppress(OSError):
        return any(os.path.samefile(item, path) for item in Path(f"/proc/{pid}/fd").iterdir() if item.exists())
    return False


def is_claimed(run_directory: Path) -> bool:
    with exclusive(_lock_path(run_directory), wait=False) as ours:
        return not ours


def holds(run_directory: Path, claim: Claim) -> bool:
    """Return whether what is locked is there under its name: a directory may be deleted or moved under who runs in
    it.
    """
    try:
        return os.path.samestat(os.stat(_lock_path(run_directory)), os.fstat(claim.lock))
    except OSError:
        return False


def directories_of(run_directory: Path, claim: Claim) -> frozenset[tuple[int, int]]:
    """Return device and inode of our directories. A directory made anew at a lost one's path counts too, unless another
    process has claimed it by now: then it is that one's, also if it was ours.
    """
    ours = frozenset(_which(os.fstat(number)) for number in claim[1:] if number >= 0)
    try:
        at_path = _which(os.stat(run_directory.parent))
    except OSError:
        return ours
    return ours - {at_path} if _is_of_another(run_directory, claim) else ours | {at_path}


def _is_of_another(run_directory: Path, claim: Claim) -> bool:
    return not holds(run_directory, claim) and _lock_path(run_directory).exists() and is_claimed(run_directory)


def _which(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino


def _lock_path(run_directory: Path) -> Path:
    return run_directory / "locks" / "up.lock"


def _pid_path(run_directory: Path) -> Path:
    return run_directory / "up.pid"
