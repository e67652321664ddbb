"""Histories of three replicas that lose their disks, get them back from backups, and are helped by an operator.

No partition may start empty while a record of it lies on a disk, be it in a log or aside, that its broker has seen.
ZooKeeper is played.
"""

import random
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest

from broker.common.cluster import LeaderAndIsr, TopicAssignment
from broker.common.types import NO_BROKER, TopicPartition
from broker.runtime.replication.lost_logs import LostLogs
from tests.broker.runtime.replication.test_lost_logs import Store

T_0, BROKERS = TopicPartition("t", 0), (1, 2, 3)
TOPIC = TopicAssignment("t", UUID(int=7), {0: BROKERS})
HISTORIES, EVENTS = 1_500, 12


@dataclass
class Disk:
    """What a broker has of the partition: the ends of its log and of a stray, None for none."""

    log: int | None
    aside: int | None = None
    is_restored: bool = False

    def lose(self, _random: random.Random) -> None:
        self.log = self.aside = None

    def lose_the_log(self, _random: random.Random) -> None:
        self.log = None

    def restore(self, chosen: random.Random) -> None:
        """Have a backup in the log's place."""
        self.log, self.aside, self.is_restored = chosen.randrange(1, 100), None, True

    def move_back(self, _random: random.Random) -> None:
        if self.aside is not None:
            self.log, self.aside, self.is_restored = self.aside, None, False

    @property
    def holds_records(self) -> bool:
        return bool(self.log) or bool(self.aside)


class Logs:
    """What a start finds on a disk."""

    may_lack_records = False

    def __init__(self, disk: Disk):
        self.disk = disk
        self.withheld = set()
        self.restored = {T_0} if disk.is_restored and disk.log is not None else set()
        self.records_aside = {}

    def get(self, _partition) -> SimpleNamespace | None:
        end = self.disk.log
        return (
            None
            if end is None
            else SimpleNamespace(log_end_offset=end, leader_epochs=SimpleNamespace(latest_epoch=min(end - 1, 0)))
        )

    def is_out_of_reach(self, _partition) -> bool:
        return False

    def has_whole(self, _partition, _topic_id) -> bool:
        return self.disk.log is not None and not self.restored

    def find_records_aside(self, missing) -> None:
        if T_0 in missing and self.disk.log is None and self.disk.aside is not None:
            self.records_aside[T_0] = [Path("t-0.…-stray")]

    def recovery_advice(self, _partition) -> str:
        return "move it back"

    def set_aside_as_stray(self, _partition, _reason) -> Path:
        self.disk.aside, self.disk.log = self.disk.log, None
        return Path("t-0.…-stray")


class History:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        isr = tuple(self.random.sample(BROKERS, self.random.choice([1, 1, 2, 3])))
        self.disks = {
            broker_id: Disk(
                100 if broker_id in isr else self.random.randrange(100), self.random.choice([None, None, 50])
            )
            for broker_id in BROKERS
        }
        self.store = Store({T_0: LeaderAndIsr(NO_BROKER, 5, isr, 1, 3)})
        self.store.registered = set()
        self.may_serve = set[int]()
        #: Brokers whose disks are as their last start left them.
        self.unchanged = set(BROKERS)
        self.history = [f"{isr=} {self.disks}"]

    async def play(self) -> None:
        for broker_id in BROKERS:
            self._strike(broker_id)
        for _ in range(EVENTS):
            broker_id = self.random.choice(BROKERS)
            if self.random.random() < 0.4:
                self._strike(broker_id)
            else:
                await self._start(broker_id)
            leader = next((member for member in self.store.states[T_0].isr if member in self.may_serve), None)
            if leader is not None:
                self._lead(leader)
                return

    def _strike(self, broker_id: int) -> None:
        disk = self.disks[broker_id]
        event = self.random.choice([disk.lose, disk.lose_the_log, disk.restore, disk.move_back])
        event(self.random)
        self.unchanged.discard(broker_id)
        self._leave(broker_id)
        self.history.append(f"{event.__name__} {broker_id}")

    def _leave(self, broker_id: int) -> None:
        self.may_serve.discard(broker_id)
        self.store.registered.discard(broker_id)

    async def _start(self, broker_id: int) -> None:
        self._leave(broker_id)
        self.unchanged.add(broker_id)
        disk, logs = self.disks[broker_id], Logs(self.disks[broker_id])
        states = {T_0: self.store.states[T_0]} if disk.log else {}
        await LostLogs(self.store, broker_id, logs).leave_isrs([TOPIC], states)
        disk.is_restored = False
        self.store.registered.add(broker_id)
        if not logs.withheld:
            self.may_serve.add(broker_id)
            disk.log = disk.log or (0 if self.store.states[T_0].isr != (broker_id,) else disk.log)
        self.history.append(f"start {broker_id} {disk} {self.store.states[T_0]}")

    def _lead(self, leader: int) -> None:
        holders = {broker_id for broker_id in self.unchanged if self.disks[broker_id].holds_records}
        assert self.disks[leader].log or not holders, self.history


@pytest.mark.parametrize("begin", range(3))
async def test_no_partition_starts_empty_while_a_broker_knows_of_records_on_its_disk(begin):
    for seed in range(begin, HISTORIES, 3):
        await History(seed).play()
