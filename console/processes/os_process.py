"""The operating system's side of a managed process: start it, find it again, look at it, end it.

A pid alone proves nothing, for pids are used again. A process is known by its pid and a run token in its environment,
or by its create time where the environment cannot be read. Descendants inherit the token: it finds even orphans.
Whoever started a process reads its exit status with waitpid; anybody else reads it from the zombie, if there still is
one.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from broker.common.installation import RUN_TOKEN_VARIABLE, with_code_path
from console.processes.log_files import bound_log

#: psutil adds the boot time, which the system corrects now and then, to the start tick.
CREATE_TIME_TOLERANCE_S = 2.0

#: What a child gets of our environment. Passwords and database addresses are not in the list and stay here.
INHERITED = frozenset(
    [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TMPDIR",
        "VIRTUAL_ENV",
        "LD_LIBRARY_PATH",
        "JAVA_HOME",
        "SPARK_HOME",
        "SPARK_LOCAL_IP",
        "PYTHONPATH",
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    ]
)
#: For glibc. Its many arenas, one for each thread or two, are of no use to threads that take turns, and each of them
#: keeps what it once held: 1 to 1.5 MB of a small process, a tenth of a large cluster's collector. Not for brokers, for
#: whose buffers of 1 MB one arena is a tenth more work.
ONE_ARENA = {"MALLOC_ARENA_MAX": "1"}


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """One process for ever: no other has the same three."""

    pid: int
    create_time: float
    token: str


@dataclass(frozen=True, slots=True)
class Sighting:
    """The result of a look. `exit_status` as `Popen.returncode`; None while alive or if unknown."""

    alive: bool
    suspended: bool = False
    exit_status: int | None = None


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What a process and its descendants use: bytes of memory, and CPU seconds since they started."""

    memory_bytes: int
    cpu_seconds: float


GONE = Sighting(alive=False)
#: States of /proc/PID/stat: a zombie, dead, stopped by a signal or a debugger.
_NOT_RUNNING = frozenset([b"Z", b"X", b"x", b"T", b"t"])


class ChildProcess(Protocol):
    """As Popen tells of a child how it ended."""

    returncode: int | None

    def poll(self) -> int | None: ...


#: Children of this very process, kept so that their status is read once and not lost.
_children: dict[ProcessIdentity, ChildProcess] = {}


def spawn(argv: list[str], env: dict[str, str], working_dir: Path, log_path: Path, token: str) -> ProcessIdentity:
    """Start `argv` in a session of its own, so that nothing that happens to us reaches it. Raises OSError.

    Output goes to the end of `log_path`; the environment is `child_environment(env)` and the token. Python finds this
    code there, wherever `working_dir` is.
    """
    log_path.parent.mkdir(parents=True, exist_ok=True)
    bound_log(log_path)
    with open(log_path, "ab", buffering=0) as log, _interruptible():
        child = subprocess.Popen(
            argv,
            cwd=working_dir,
            env=with_code_path({**child_environment(env), RUN_TOKEN_VARIABLE: token}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    identity = identify(child.pid, token)
    _children[identity] = child
    return identity


class _Inherited:
    """A child of the program that this process ran before."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            with suppress(ChildProcessError):  # none of ours, or somebody has read its status: looks tell what is left
                pid, status = os.waitpid(self._pid, os.WNOHANG)
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode


def inherit(identity: ProcessIdentity) -> None:
    """Become the parent of processes that this one started before it executed another program."""
    _children[identity] = _Inherited(identity.pid)


def child_environment(additions: dict[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name in INHERITED}
    return {**inherited, **additions}


@contextmanager
def _interruptible() -> Iterator[None]:
    """Restore SIGINT inside: a Celery pool ignores it, and a child would inherit that across exec."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if not ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def identify(pid: int, token: str) -> ProcessIdentity:
    return ProcessIdentity(pid, psutil.Process(pid).create_time(), token)


def look(identity: ProcessIdentity) -> Sighting:
    """Return whether it lives. A zombie is dead: it is reaped if it is our child, and its status is taken either
    way.
    """
    if not identity.token:
        return GONE  # nothing of ours: every process without a token has that one
    child = _children.get(identity)
    if child is not None and child.poll() is not None:
        return Sighting(alive=False, exit_status=child.returncode)
    try:
        return _look_from_outside(identity)
    except psutil.ZombieProcess:
        return Sighting(alive=False, exit_status=_status_of_dead(identity))
    except psutil.NoSuchProcess:
        return GONE


def runs(identity: ProcessIdentity) -> bool:
    """Return whether it lives and is not suspended, by one short file: for looks in between, since another process may
    have been given the pid of one that was not our child.
    """
    try:
        state = Path(f"/proc/{identity.pid}/stat").read_bytes().rpartition(b")")[2].split(maxsplit=1)[0]
    except OSError:
        return False
    return state not in _NOT_RUNNING


def _look_from_outside(identity: ProcessIdentity) -> Sighting:
    """Raises NoSuchProcess; ZombieProcess if it ends between two questions."""
    process = psutil.Process(identity.pid)
    token = _token_of(process)
    if token != identity.token and (token is not None or not _has_same_age(process, identity)):
        return GONE
    status = process.status()
    if status in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
        return Sighting(alive=False, exit_status=_status_of_dead(identity))
    return Sighting(alive=True, suspended=status == psutil.STATUS_STOPPED)


def _has_same_age(process: psutil.Process, identity: ProcessIdentity) -> bool:
    """Return whether the create time fits, the second best proof: it moves with the clock, for it is counted from the
    boot time.
    """
    return abs(process.create_time() - identity.create_time) <= CREATE_TIME_TOLERANCE_S


def _token_of(process: psutil.Process) -> str | None:
    """Return the run token in its environment; None when that cannot be read: not ours, just executing, or just ending.

    A process that ends has lost its memory, and with it its environment, a moment before it becomes a zombie.
    """
    try:
        environment = process.environ()
    except (psutil.Error, OSError):
        return None
    return environment.get(RUN_TOKEN_VARIABLE, "") if environment else None


def _status_of_dead(identity: ProcessIdentity) -> int | None:
    """Return the exit status by waitpid if it is our child, else from /proc/PID/stat: its last field is a zombie's wait
    status, on Linux.
    """
    child = _children.get(identity)
    if child is not None and child.poll() is not None:
        return child.returncode
    try:
        fields = Path(f"/proc/{identity.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return os.waitstatus_to_exitcode(int(fields[-1]))


def forget_ended(known: set[ProcessIdentity]) -> None:
    """Reap ended children other than `known`, which no look would reap."""
    for identity, child in list(_children.items()):
        if identity not in known and child.poll() is not None:
            del _children[identity]


def find_leader(token: str) -> ProcessIdentity | None:
    """Find the process that was started with `token` though its pid was not written down: the leader of its session."""
    for process in _family(token):
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            if os.getsid(process.pid) == process.pid:
                return ProcessIdentity(process.pid, process.create_time(), token)
    return None


def terminate(identity: ProcessIdentity) -> None:
    """SIGTERM to the process itself, not to its group: a Spark driver stops its own JVM, in its own order."""
    if look(identity).alive:
        with suppress(ProcessLookupError):
            os.kill(identity.pid, signal.SIGTERM)
            os.kill(identity.pid, signal.SIGCONT)


def kill(identity: ProcessIdentity) -> int:
    """SIGKILL to the process and everything it started; the number of processes hit."""
    session = _session(identity) if look(identity).alive else []
    return _kill_all({*session, *_family(identity.token)})


def kill_family(token: str) -> int:
    """SIGKILL to everything that carries `token`, whatever its parent is by now; the number of processes hit."""
    return _kill_all(set(_family(token)))


def kill_all_below(directories: Collection[tuple[int, int]]) -> int:
    """SIGKILL to every process of ours that works in one of them (device, inode), and to its family. Also where they
    were deleted, but not to who works in others that have taken their path.
    """
    below = [item for item in psutil.process_iter() if _works_below(item.pid, directories)]
    return sum(kill_family(token) for token in set(map(_token_of, below)) if token)


def _works_below(pid: int, directories: Collection[tuple[int, int]]) -> bool:
    """Return whether the process's working directory is one of these, by way of `..`, which a deleted directory still
    has. False for an ended process, or one of another user.
    """
    place, before = f"/proc/{pid}/cwd", (-1, -1)
    while True:
        try:
            stat = os.stat(place)
        except OSError:
            return False
        here = stat.st_dev, stat.st_ino
        if here in directories or here == before:
            return here in directories
        place, before = f"{place}/..", here


def _kill_all(processes: set[psutil.Process]) -> int:
    killed = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
            killed += 1
    return killed


def _session(leader: ProcessIdentity) -> list[psutil.Process]:
    """Return everything in the session of `leader`: a program that rewrites its title (Redis) overwrites its token."""
    processes = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, ProcessLookupError, PermissionError):
            if os.getsid(process.pid) == leader.pid:
                processes.append(process)
    return processes


def _family(token: str) -> list[psutil.Process]:
    """Return all living processes whose environment has `token`; never this one."""
    processes = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess):
            if token and process.pid != os.getpid() and _token_of(process) == token:
                processes.append(process)
    return processes


def measure(identity: ProcessIdentity) -> ProcessUsage | None:
    try:
        leader = psutil.Process(identity.pid)
        processes = [leader, *_descendants(leader)]
    except psutil.NoSuchProcess:
        return None
    # Spark's workers are forks of one another: what they share counts once.
    memory_of = _proportional_bytes if len(processes) > 1 else _resident_bytes
    memory_bytes, cpu_seconds = 0, 0.0
    for process in processes:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            times = process.cpu_times()
            cpu_seconds += times.user + times.system
            memory_bytes += memory_of(process)
    return ProcessUsage(memory_bytes, cpu_seconds)


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    """Return descendants by the kernel's list of each thread's children, without looking at every process of the
    machine.
    """
    try:
        children = [path.read_text() for path in Path(f"/proc/{process.pid}/task").glob("*/children")]
    except OSError:
        children = []
    if not children:  # a kernel that does not say, or it has ended
        return process.children(recursive=True)
    processes = []
    for pid in map(int, " ".join(children).split()):
        with suppress(psutil.NoSuchProcess):
            child = psutil.Process(pid)
            processes += [child, *_descendants(child)]
    return processes


def _resident_bytes(process: psutil.Process) -> int:
    return process.memory_info().rss


def _proportional_bytes(process: psutil.Process) -> int:
    return process.memory_full_info().pss
