"""Ends a broker whose loop has stood still for about a ZooKeeper session.

Kazoo heartbeats on a thread of its own. A loop that hangs, in a write to a dying disk or by a mistake of ours, would
keep its session and with it every leadership: nobody is elected, and nobody is served. So the process ends, hard. Its
session lapses, what it led is led by others, and whoever keeps it running starts it again. For the logs that is a
`kill -9`: what was acknowledged is in the page cache. Giving up the session alone would leave a process that can
neither serve nor be told to stop.

What is counted is the watch's own looks that the loop let pass, never time. A process that was suspended, a machine
that slept, and a garbage collection (which holds the interpreter's lock) let the watch stand still as well, so they end
nothing.
"""

import asyncio
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from broker.common.limits import LOOP_STALL_MS_MIN
from broker.common.logs import logger

_log = logger(__name__)

#: Looks in a row that are not answered before the loop counts as hanging.
LOOKS_MAX = 10
#: Nobody must wait for the log line: what hangs may be the disk it goes to.
_LAST_WORDS_S = 2.0


class LoopAnswers:
    """Asks the loop at each look whether it still goes round."""

    def __init__(self, ask: Callable[[Callable[[], None]], object]):
        """`ask` has the loop call what it is given, soon, from another thread."""
        self._ask = ask
        self._is_answered = True
        self._passed = 0

    def look(self) -> bool:
        """Return whether the loop has let too many looks pass."""
        if self._is_answered:
            self._is_answered, self._passed = False, 0
            self._ask(self._answer)
        else:
            self._passed += 1
        return self._passed >= LOOKS_MAX

    def _answer(self) -> None:
        self._is_answered = True


@contextmanager
def watching_the_loop(session_timeout_ms: int) -> Iterator[None]:
    """End the process with status 1 if the running loop hangs in this block; call on its thread."""
    limit_ms = max(session_timeout_ms, LOOP_STALL_MS_MIN)
    answers, is_over = LoopAnswers(asyncio.get_running_loop().call_soon_threadsafe), threading.Event()
    arguments = answers, is_over, limit_ms, threading.get_ident()
    threading.Thread(target=_watch, args=arguments, name="loop watch", daemon=True).start()
    try:
        yield
    finally:
        is_over.set()


def _watch(answers: LoopAnswers, is_over: threading.Event, limit_ms: int, loop_thread: int) -> None:
    with suppress(RuntimeError):  # the loop is closed
        while not is_over.wait(limit_ms / 1000 / LOOKS_MAX):
            if answers.look():
                _end(limit_ms, loop_thread)


def _end(limit_ms: int, loop_thread: int) -> None:
    last_words = threading.Thread(target=_say_why, args=(limit_ms, loop_thread), daemon=True)
    last_words.start()
    last_words.join(_LAST_WORDS_S)
    os._exit(1)


def _say_why(limit_ms: int, loop_thread: int) -> None:
    frame = sys._current_frames().get(loop_thread)
    stack = "".join(traceback.format_stack(frame)) if frame is not None else ""
    _log.critical("the loop stands still, so the broker ends", for_ms=limit_ms, stack=stack)
