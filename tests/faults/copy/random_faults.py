"""Faults drawn from a seed: copiers die or stand still, brokers die or are stopped, coordinators most often."""

import random
import time
from collections import Counter

from broker.coordinator.partitions import partition_for
from tests.faults.copy.copier import GROUP
from tests.faults.copy.copier_process import CopierProcess
from tests.faults.matrix.stage import Stage

OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
INTERNAL_PARTITIONS = 3
_PAUSE_S = (0.5, 4.0)


class RandomFaults:
    """Draws and does one fault after the other; a broker only while all partitions are whole."""

    def __init__(self, stage: Stage, copiers: list[CopierProcess], seed: int):
        self._stage = stage
        self._copiers = copiers
        self._random = random.Random(seed)
        self._down: tuple[int, float] | None = None
        self.counts: Counter[str] = Counter()

    def go_on(self) -> None:
        """What is due now: start what was killed, or do the next fault."""
        stage = self._stage
        for copier in self._copiers:
            copier.tend()
        if self._down is not None and time.monotonic() >= self._down[1]:
            stage.start(self._down[0])
            self._down = None
        name = self._random.choices(list(_FAULTS), [weight for weight, _ in _FAULTS.values()])[0]
        if _FAULTS[name][1](self):
            self.counts[name] += 1
        self._wait(self._random.uniform(*_PAUSE_S))

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for copier in self._copiers:
                copier.tend()
            time.sleep(0.1)

    def _kill_copier(self) -> bool:
        self._random.choice(self._copiers).kill(self._random.choice((0, 0, 1, 8)))
        return True

    def _suspend_copier(self) -> bool:
        self._random.choice(self._copiers).suspend()
        return True

    def _kill_any_broker(self) -> bool:
        return self._kill_broker(self._random.choice(self._stage.others()))

    def _kill_group_coordinator(self) -> bool:
        partition = partition_for(GROUP, INTERNAL_PARTITIONS)
        return self._kill_broker(self._stage.state(OFFSETS, partition).leader)

    def _kill_transaction_coordinator(self) -> bool:
        partition = partition_for(self._random.choice(self._copiers).name, INTERNAL_PARTITIONS)
        return self._kill_broker(self._stage.state(TRANSACTIONS, partition).leader)

    def _kill_broker(self, broker_id: int) -> bool:
        if self._down is not None or broker_id < 0 or not self._stage.is_whole():
            return False
        kill = self._random.choice((self._stage.kill, self._stage.kill_and_expire))
        kill(broker_id)
        self._down = broker_id, time.monotonic() + self._random.uniform(0.5, 6)
        return True

    def _stop_broker(self) -> bool:
        if self._down is not None or not self._stage.is_whole():
            return False
        broker_id = self._random.choice(self._stage.others())
        self._stage.broker(broker_id).await_healthy()  # one that has just been started could only be killed
        self._stage.stop(broker_id)
        self._down = broker_id, time.monotonic() + self._random.uniform(0, 2)
        return True


_FAULTS = {
    "kill -9 of a copier": (40, RandomFaults._kill_copier),
    "a copier stands still": (6, RandomFaults._suspend_copier),
    "kill -9 of a broker": (14, RandomFaults._kill_any_broker),
    "kill -9 of the group's coordinator": (14, RandomFaults._kill_group_coordinator),
    "kill -9 of a transaction's coordinator": (18, RandomFaults._kill_transaction_coordinator),
    "clean stop of a broker": (8, RandomFaults._stop_broker),
}
