"""Logs why a process ends: the signal or caller, the exit status, or where it crashed.

A process that is killed (SIGKILL, also by the kernel when memory is short) says nothing; whoever started it has its
status. So a log that ends without a word means a kill.
"""

import faulthandler
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

_STOP = (signal.SIGTERM, signal.SIGINT)
#: By default they end a process without a word, and mean nothing here.
_STRAY = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)


def _log() -> Any:
    """Return the process's log; None in a command that only prints, for which logs are not even imported."""
    logs = sys.modules.get("broker.common.logs")
    return logs.logger(__name__) if logs is not None and logs.are_configured() else None


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that shut the process down in order. SIGHUP, of a terminal that was closed, is among them
    unless it is ignored (nohup): by default it would end the process without a word.
    """
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return _STOP if is_ignored else (*_STOP, signal.SIGHUP)


def log_stop(number: int) -> None:
    """Say which signal stops the process."""
    if log := _log():
        log.info("stops", signal=signal.Signals(number).name)


def log_crashes() -> None:
    """Have a crash in a library print the stacks of all threads, and log a thread that dies of an exception in one
    line, as well as a signal that means nothing: the process goes on.
    """
    if sys.__stderr__ is not None and not faulthandler.is_enabled():
        faulthandler.enable(sys.__stderr__)
    threading.excepthook = _thread_ended
    for number in _STRAY:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _log_stray)


def _log_stray(number: int, _frame: FrameType | None) -> None:
    if log := _log():
        log.warning("signal ignored", signal=signal.Signals(number).name)


def _thread_ended(what: threading.ExceptHookArgs) -> None:
    log = _log()
    if log is None or what.exc_value is None:
        threading.__excepthook__(what)
    elif not isinstance(what.exc_value, SystemExit):
        name = what.thread.name if what.thread is not None else ""
        log.error("thread ended by an error", thread=name, exc_info=what.exc_value)


def log_end(command: str) -> None:
    """Say that the process ends in order. One that does not has said why: its last line is shown as the reason."""
    if log := _log():
        log.info("process ends", command=command, pid=os.getpid())
