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
from types import FrameType
from typing import NamedTuple

from broker.cli import server
from broker.common.errors import StartupError
from broker.server.broker import Broker

#: How much the loop may compute before it looks at what else there is to do.
STALL_MS = 50
_LOOK_EVERY_S = 0.003
#: From then on what it does is looked at again and again: where it is at the end may not be where the time went.
_LOOK_AFTER_MS = 10
_CALLS = 8


class Look(NamedTuple):
    """What the loop was doing when it had computed so much."""

    computed_ms: float
    calls: traceback.StackSummary
    api: str

    def describe(self) -> str:
        places = " < ".join(f"{Path(call.filename).name}:{call.lineno} {call.name}" for call in reversed(self.calls))
        return f"{self.computed_ms:.0f} ms {self.api} {places}"


def _look_at(frame: FrameType, computed_ms: float) -> Look:
    """Lines are read when it is told: a look may not hold up what it looks at."""
    frames = list(traceback.walk_stack(frame))
    routes = [outer.f_locals["route"] for outer, _ in frames if "route" in outer.f_locals]
    calls = traceback.StackSummary.extract(frames[:_CALLS], lookup_lines=False)
    calls.reverse()
    return Look(computed_ms, calls, f"{routes[0].api.name} v{routes[0].version}" if routes else "")


class _Question:
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
            requested_asked = _Question()
            began_ns, began = time.clock_gettime_ns(self._clock_id), time.monotonic()
            looks: list[Look] = []
            try:
                loop.call_soon_threadsafe(requested_asked.answer)
            except RuntimeError:
                return
            while not requested_asked.is_answered.wait(_LOOK_EVERY_S):
                computed_ms = (time.clock_gettime_ns(self._clock_id) - began_ns) / 1e6
                if computed_ms > (1 + len(looks)) * _LOOK_AFTER_MS:
                    looks.append(_look_at(sys._current_frames()[self._thread_id], computed_ms))
            took_ms = 1_000 * (time.monotonic() - began)
            # Whoever watches may itself have had to wait for a processor between the two clocks it begins with.
            computed_ms = min((requested_asked.computed_ns - began_ns) / 1e6, took_ms)
            if computed_ms > STALL_MS:
                self._note(computed_ms, took_ms, looks)
            time.sleep(_LOOK_EVERY_S)

    def _note(self, computed_ms: float, took_ms: float, looks: list[Look]) -> None:
        late = [look for look in looks if look.computed_ms > STALL_MS] or looks
        stack = "".join(late[0].calls.format()) if late else ""
        texts = [look.describe() for look in looks]
        with self._path.open("a") as notes:
            notes.write(
                json.dumps({"computed_ms": computed_ms, "took_ms": took_ms, "stack": stack, "looks": texts}) + "\n"
            )


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
