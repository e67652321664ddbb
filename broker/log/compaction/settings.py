"""What the cleaner may use, and what its host provides."""

from collections.abc import Callable
from dataclasses import dataclass

from broker.common.clock import Clock
from broker.common.errors import BarnabasError

#: Runs a function where the log's owner runs, and waits for it; what the function raises comes back. If anything else
#: is raised, the function has not been run and will not be.
OnOwner = Callable[[Callable[[], None]], None]


class CleaningStopped(BarnabasError):
    """The pass ended without fault: it was told to, or the log changed under it."""


@dataclass(frozen=True, slots=True)
class CleanerSettings:
    """Bounds are Kafka's, with its defaults."""

    clock: Clock
    on_owner: OnOwner
    #: Of half a second at most, and of none before each batch: that lets go of the interpreter, without which the log's
    #: owner would wait up to 5 ms for its turn.
    sleep: Callable[[float], object]
    #: Asked before each batch and each pause.
    should_stop: Callable[[], bool] = lambda: False
    #: log.cleaner.dedupe.buffer.size.
    offset_map_bytes: int = 128 * 1024 * 1024
    #: log.cleaner.io.max.bytes.per.second, reading and writing together.
    bytes_per_second: float = float("inf")

    def refuse_if_stopping(self) -> None:
        if self.should_stop():
            raise CleaningStopped("the cleaner is stopping")

    def pause(self, seconds: float) -> None:
        self.refuse_if_stopping()
        self.sleep(seconds)
