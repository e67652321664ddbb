"""What parsers and comparers cost when their input doubles: a cost that grows faster than n log n is a client's weapon.

    python -m tests.fuzz growth --minutes 10 --seed N

Lines are counted exactly, so the gate's slice never depends on the machine. What C code does is hidden from that count
(`x in a_list`), so the command measures the processor's time as well, and tells of what grows in both of two tries.
"""

import contextlib
import gc
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.fuzz.growth_inputs import Pump

#: Doubling an input adds twice as much as doubling it before did, n log n 2.3 times; a square adds four times as much,
#: and beside much that is linear less.
GROWTH_MAX = 2.35
#: Elements of the inputs whose lines are counted.
COUNTED_SIZES = (24, 48, 96)
#: Lines below which nothing is judged: what is fixed is more than what grows.
LINES_MIN = 2_000
TIMED_SIZES = (1_000, 2_000, 4_000)
SECONDS_MIN = 0.1
#: No single measurement goes on for longer.
LINES_MAX = 3_000_000
#: Parts of a batch that is packed, and what its reader may hold at most: some MB unpacked, copied, and what is bounded.
PACKED_SIZE = 1_000_000
HELD_BYTES_MAX = 64 * 1024 * 1024


@dataclass(frozen=True)
class Target:
    """Something that reads what a client sends: pumps make its inputs, `refusals` are the errors it may answer."""

    name: str
    read: Callable[[Any], Any]
    pumps: Callable[[random.Random], Pump[Any]]
    refusals: tuple[type[BaseException], ...] = (ValueError,)


@dataclass(frozen=True)
class Growth:
    """A target whose cost grew too fast, and on which input."""

    target: str
    word: str
    costs: tuple[float, ...]
    unit: str

    def __str__(self) -> str:
        costs = " → ".join(f"{cost:.3g}" for cost in self.costs)
        return f"{self.target}: {costs} {self.unit} as its input doubles ({self.word})"


class TooLong(Exception):
    """The measurement was given up."""


def lines_of(read: Callable[[], Any], refusals: tuple[type[BaseException], ...]) -> int:
    """How many lines of Python run; LINES_MAX if there are more."""
    count = 0

    def trace(_frame: Any, event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        if count > LINES_MAX:
            raise TooLong
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        read()
    except (TooLong, RecursionError, *refusals):
        pass
    finally:
        sys.settrace(before)
    return count


def seconds_of(read: Callable[[], Any], refusals: tuple[type[BaseException], ...]) -> float:
    """Of the processor, the better of two runs; without garbage collection, which comes when it likes."""
    times = []
    gc.disable()
    try:
        for _ in range(2):
            begun = time.process_time()
            with contextlib.suppress(RecursionError, *refusals):
                read()
            times.append(time.process_time() - begun)
    finally:
        gc.enable()
        gc.collect()
    return min(times)


def grows_too_fast(costs: tuple[float, ...], least: float) -> bool:
    """By how much more the second doubling added than the first, so that what is fixed does not count."""
    first, second, third = costs
    return third >= least and third - second > GROWTH_MAX * max(second - first, least / 20)


def counted(target: Target, pump: Pump[Any]) -> Growth | None:
    pump_of, costs = pump.of, []
    lines_of(lambda: target.read(pump_of(2)), target.refusals)  # imports and caches are no cost of the input
    for size in COUNTED_SIZES:
        made = pump_of(size)
        costs.append(float(lines_of(lambda made=made: target.read(made), target.refusals)))
    growth = Growth(target.name, pump.word, tuple(costs), "lines")
    return growth if grows_too_fast(growth.costs, LINES_MIN) else None


def timed(target: Target, pump: Pump[Any]) -> Growth | None:
    costs = []
    for size in TIMED_SIZES:
        made = pump.of(size)
        costs.append(seconds_of(lambda made=made: target.read(made), target.refusals))
    growth = Growth(target.name, pump.word, tuple(costs), "seconds")
    return growth if grows_too_fast(growth.costs, SECONDS_MIN) else None


def held(target: Target, pump: Pump[Any]) -> Growth | None:
    """Whether a reader holds more than is bounded of an input that is as good as empty on the wire."""
    packed = pump.of(PACKED_SIZE)
    tracemalloc.start()
    try:
        with contextlib.suppress(*target.refusals):
            target.read(packed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    growth = Growth(target.name, pump.word, (float(len(packed)), float(peak)), "bytes held")
    return growth if peak > HELD_BYTES_MAX else None


def look(targets: Iterable[Target], seed: int, rounds: int) -> Iterator[Growth]:
    """By lines, `rounds` inputs of each target."""
    for target in targets:
        chance = random.Random(f"{seed} {target.name}")
        for _ in range(rounds):
            growth = counted(target, target.pumps(chance))
            if growth is not None:
                yield growth


def look_for(targets: list[Target], seed: int, seconds: float, tell: Callable[[str], None]) -> int:
    """By lines and by time, in turn, until the time is over; how much was found, each target told of once a unit."""
    chance, known, until = random.Random(seed), set(), time.monotonic() + seconds
    runs = 0
    while time.monotonic() < until:
        target = chance.choice(targets)
        pump = target.pumps(chance)
        for growth in (counted(target, pump), timed(target, pump) and timed(target, pump)):
            if growth is not None and (growth.target, growth.unit) not in known:
                known.add((growth.target, growth.unit))
                tell(str(growth))
        runs += 1
    tell(f"{runs} inputs of {len(targets)} targets, {len(known)} grow too fast")
    return len(known)
