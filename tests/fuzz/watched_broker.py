"""A broker process that notes when its loop stands still: `python -m tests.fuzz.watched_broker STALLS --config FILE`.

Standing still is counted by what the loop's thread computes meanwhile, not by the clock: on a machine that others use
too a process waits for its turn, and that is not its fault. What hangs at a disk or a lock is not seen here.
"""

import asyncio
import json
import sys
import threading
import time
import traceback
from pathlib import Path

from broker.cli import server
from broker.common.errors import StartupError
from broker.server.broker import Broker

#: How much the loop may compute before it looks at what else there is to do.
STALL_MS = 50
_LOOK_EVERY_S = 0.003


class _Asked:
    """The loop says itself how much it had computed by then: who watches it may wait for a processor to hear of it."""

    def __init__(self) -> None:
        self.is_answered = threading.Event()
        self.computed_ns = 0

    def answer(self) -> None:
        """On the loop's thread."""
        self.computed_ns = time.thread_time_ns()
        self.is_answered.set()


class LoopWatch:
    """A thread that asks the loop to do nothing, and looks at what it does instead when that takes long."""

    def __init__(self, path: Path):
        self._path = path
        self._clock_id = time.pthread_getcpuclockid(threading.main_thread().ident)
        self._thread_id = threading.main_thread().ident

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        threading.Thread(target=self._look, args=(loop,), daemon=True, name="loop-watch").start()

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        while not loop.is_closed():
            asked = _Asked()
            began_ns, began = time.clock_gettime_ns(self._clock_id), time.monotonic()
            stack = ""
            try:
                loop.call_soon_threadsafe(asked.answer)
            except RuntimeError:
                return
            while not asked.is_answered.wait(_LOOK_EVERY_S):
                if not stack and time.clock_gettime_ns(self._clock_id) - began_ns > STALL_MS * 1_000_000:
                    stack = "".join(traceback.format_stack(sys._current_frames()[self._thread_id])[-8:])
            computed_ms = (asked.computed_ns - began_ns) / 1e6
            if computed_ms > STALL_MS:
                self._note(computed_ms, 1_000 * (time.monotonic() - began), stack)
            time.sleep(_LOOK_EVERY_S)

    def _note(self, computed_ms: float, took_ms: float, stack: str) -> None:
        with self._path.open("a") as notes:
            notes.write(json.dumps({"computed_ms": computed_ms, "took_ms": took_ms, "stack": stack}) + "\n")


def main() -> int:
    watch = LoopWatch(Path(sys.argv[1]))
    start = Broker.start

    async def start_watched(broker: Broker) -> None:
        await start(broker)
        watch.watch(asyncio.get_running_loop())

    Broker.start = start_watched
    try:
        return server.main(sys.argv[2:])
    except StartupError as error:
        print(error, file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())
