"""One `up` per data directory: a lock that dies with its holder, and a file that says who holds it."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from console.common.file_lock import exclusive, take
from console.gateway.installation import IS_CHECKOUT
from console.processes import os_process
from console.processes.setup import SetupError

WAIT_POLL_S = 0.1
DOWN_COMMAND = "make down" if IS_CHECKOUT else "barnabas down"


@contextmanager
def claim_data_dir(run_directory: Path) -> Iterator[int]:
    """Be the one who runs here, as long as the given descriptor is open. SetupError if somebody else is."""
    held = take(_lock_path(run_directory), wait=False)
    if held is None:
        raise SetupError(
            f"It is up already (pid {holder_pid(run_directory)}): use that one, or stop it with `{DOWN_COMMAND}`. "
            "A second one needs a BARNABAS_DATA of its own, and other ports."
        )
    try:
        _pid_path(run_directory).write_text(str(os.getpid()))
        yield held
    finally:
        os.close(held)


def holder_pid(run_directory: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(_pid_path(run_directory).read_text())
    return None


def ask_to_stop(run_directory: Path, timeout_s: float) -> None:
    """Have a running `up` stop in order. SetupError if it does not within `timeout_s`."""
    with suppress(ProcessLookupError, TypeError):
        os.kill(holder_pid(run_directory), signal.SIGTERM)
    deadline = time.monotonic() + timeout_s
    while is_claimed(run_directory):
        if time.monotonic() > deadline:
            raise SetupError(f"`up` (pid {holder_pid(run_directory)}) did not stop within {timeout_s:.0f} s.")
        time.sleep(WAIT_POLL_S)


def is_claimed(run_directory: Path) -> bool:
    with exclusive(_lock_path(run_directory), wait=False) as ours:
        return not ours


def holds(run_directory: Path, lock: int) -> bool:
    """Whether what is locked is there under its name: a directory may be deleted or moved under who runs in it."""
    try:
        return os.path.samestat(os.stat(_lock_path(run_directory)), os.fstat(lock))
    except OSError:
        return False


def places_of(run_directory: Path, lock: int) -> tuple[Path, Path]:
    """The run directory and the data directory around it, where they were moved to, or where they were."""
    run = Path(os.readlink(f"/proc/self/fd/{lock}").removesuffix(os_process.DELETED)).parent.parent
    data = run_directory.parent.resolve()
    return run, data if data.exists() else run.parent


def _lock_path(run_directory: Path) -> Path:
    return run_directory / "locks" / "up.lock"


def _pid_path(run_directory: Path) -> Path:
    return run_directory / "up.pid"
