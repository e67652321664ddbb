"""Sources that make records by the clock: heartbeat, measurements of the host, generated rows."""

import threading
import time
from abc import abstractmethod

from broker.connect.api import SourceRecord, SourceTask


class TickingTask(SourceTask):
    """Calls `tick` once in each interval; what was missed meanwhile is not made up for."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._interval_s = 1.0
        self._next = 0.0

    @abstractmethod
    def tick(self, now_ms: int) -> list[SourceRecord]: ...

    def poll(self) -> list[SourceRecord]:
        left = self._next - time.monotonic()
        if left > 0 and self._stopped.wait(min(left, 0.5)):
            return []
        if self._stopped.is_set() or time.monotonic() < self._next:
            return []
        self._next = time.monotonic() + self._interval_s
        return self.tick(time.time_ns() // 1_000_000)

    def stop(self) -> None:
        self._stopped.set()
