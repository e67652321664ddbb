"""SIGTERM, SIGINT and SIGHUP as an event that is surely set.

A handler in Python runs when the main thread next comes by. If that is just about to wait for a lock, it sleeps before
it has seen the signal, and nobody wakes it; a handler that sets an event whose lock it interrupted waits for itself.
So what the interpreter writes to a pipe, in the signal's own moment, is read by a thread.
"""

import os
import signal
import threading

from broker.common.process_end import log_stop, stop_signals


def stop_event() -> threading.Event:
    """Return an event that signals set. Call once, on the main thread."""
    stopping = threading.Event()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signals = stop_signals()
    for number in signals:
        signal.signal(number, _taken)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch() -> None:
        # Every signal with a handler is written there, also one that stops nothing.
        while (number := os.read(reading, 1)[0]) not in signals:
            pass
        stopping.set()
        log_stop(number)

    threading.Thread(target=watch, name="told-to-stop", daemon=True).start()
    return stopping


def _taken(*_signal: object) -> None:
    """End the process in place of a signal's default action, which would end it silently."""
