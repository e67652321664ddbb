"""Holds another process up for a bounded time, and lets it go whatever happens.

    python -m console.automation.drill.holder PID TOKEN SECONDS RUNS_MS

stops the process (SIGSTOP) and continues it (SIGCONT). With RUNS_MS of every PERIOD_MS in which it runs it is slow: it
has that part of the time, in pieces, as on a host where others take the processor; disk and network are as ever.

It depends on nobody who asked for it: not on a worker, a database or a terminal. Should it be killed itself, its child,
which waits for that alone in a session of its own, continues the process. Both look through a pidfd, so that nobody
else who is given the pid is ever hit. Nothing of Django here: it is up in a tenth of a second, and small.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress

#: Nobody is held longer, whatever is asked for.
SECONDS_MAX = 120.0
PERIOD_MS = 100
TOKEN_VARIABLE = b"BARNABAS_RUN_TOKEN="
_ENDS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
#: The child of a holder that hangs continues the process by itself after that.
_GRACE_S = 2.0


def main(arguments: list[str]) -> int:
    pid, token = int(arguments[0]), arguments[1]
    seconds, runs_ms = min(float(arguments[2]), SECONDS_MAX), int(arguments[3])
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        target = os.pidfd_open(pid)
    except ProcessLookupError:
        return 3
    if not has_token(pid, token):
        return 3
    guard_pid = _guard(target, seconds)
    try:
        hold(target, seconds, runs_ms)
    finally:
        send(target, signal.SIGCONT)
        with suppress(ProcessLookupError):
            os.kill(guard_pid, signal.SIGKILL)
    return 0


def hold(target: int, seconds: float, runs_ms: int) -> None:
    """Hold the fault until its time is over, the process is gone, or a signal ends this one."""
    until = time.monotonic() + seconds
    rests_s, runs_s = (PERIOD_MS - runs_ms) / 1_000, runs_ms / 1_000
    while (left := until - time.monotonic()) > 0:
        if not send(target, signal.SIGSTOP) or _is_over(target, min(left, rests_s if runs_ms else left)):
            return
        if runs_ms and (not send(target, signal.SIGCONT) or _is_over(target, runs_s)):
            return


def has_token(pid: int, token: str) -> bool:
    """Return whether the process has this token in its environment; checked after its pidfd is open, so that it is the
    right one.
    """
    try:
        with open(f"/proc/{pid}/environ", "rb") as environment:
            return TOKEN_VARIABLE + token.encode() in environment.read().split(b"\0")
    except OSError:
        return False


def send(target: int, number: signal.Signals) -> bool:
    """Send a signal; False: the process is gone."""
    try:
        signal.pidfd_send_signal(target, number)
    except ProcessLookupError:
        return False
    return True


def _is_over(target: int, seconds: float) -> bool:
    """Waits as long; True if somebody asks us to end meanwhile, or the process has gone."""
    if signal.sigtimedwait(_ENDS, seconds) is not None:
        return True
    return bool(select.select([target], [], [], 0)[0])


def _guard(target: int, seconds: float) -> int:
    """Start a child that continues the suspended process if we end; return its pid.

    It is in a session of its own when this returns: before that, what kills ours would kill it, too.
    """
    ours, theirs = os.pipe()
    read_end, tells = os.pipe()
    child = os.fork()
    if child:
        os.close(ours)
        os.close(tells)
        os.read(read_end, 1)
        return child
    try:
        os.setsid()
        os.close(tells)
        os.close(theirs)
        select.select([ours], [], [], seconds + _GRACE_S)
        send(target, signal.SIGCONT)
    finally:
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
