"""What is done: victims are killed or suspended for some seconds, buttons are pressed. All sleepers wake in the end."""

import os
import random
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.operator import Operator
from tests.chaos.victims import choose_victim, read_rows

#: Longer than the brokers' session with ZooKeeper in the embedded setup (6 s).
SUSPENDED_S_MAX = 8.0
PAUSE_S = (0.5, 4.0)
#: Of all that happens, what an operator does.
WISHES = 0.15


@dataclass
class Chaos:
    """`done` are the faults so far, one line each."""

    data: Path
    operator: Operator
    rng: random.Random
    done: list[str] = field(default_factory=list)
    _asleep: dict[int, float] = field(default_factory=dict)

    def reign(self, seconds: float) -> None:
        began = time.monotonic()
        try:
            while time.monotonic() < began + seconds:
                at_s = time.monotonic() - began
                if self.rng.random() < WISHES:
                    self._wish(at_s)
                else:
                    self._strike(at_s)
                self._wake()
                time.sleep(self.rng.uniform(*PAUSE_S))
        finally:
            self._wake(everybody=True)

    def _wish(self, at_s: float) -> None:
        if pressed := self.operator.wish([row.name for row in read_rows(self.data)]):
            self.done.append(f"{at_s:6.1f} s  {pressed}")

    def _strike(self, at_s: float) -> None:
        victim = choose_victim(self.data, self.rng)
        if victim is None or victim.pid in self._asleep:
            return
        number = self.rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP))
        with suppress(ProcessLookupError):
            os.kill(victim.pid, number)
            self.done.append(f"{at_s:6.1f} s  {number.name:<8} {victim.role} ({victim.pid})")
        if number is signal.SIGSTOP:
            self._asleep[victim.pid] = time.monotonic() + self.rng.uniform(1.0, SUSPENDED_S_MAX)

    def _wake(self, everybody: bool = False) -> None:
        for pid, until in list(self._asleep.items()):
            if everybody or time.monotonic() >= until:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
                del self._asleep[pid]
