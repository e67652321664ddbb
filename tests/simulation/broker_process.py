"""A broker's process on a simulated machine: started, paused, killed and started again on what is on its disk.

A kill runs nothing of the broker any more. Its objects are kept until the run ends, so that not even their finalizers
run, and the next process works on a copy of the files, which nobody from the past can write to.
"""

import asyncio
import shutil
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

from broker.common.errors import StartupError
from broker.common.types import TopicPartition
from broker.config.broker import read_broker_config
from broker.log.producer_snapshots import SNAPSHOT_SUFFIX
from broker.runtime.cluster_features import raises_epochs
from broker.runtime.replication.replica_manager import HostedPartition, ReplicaManager
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from broker.server.broker import Broker
from tests.simulation.loop import HostLoop
from tests.simulation.sockets import Machine
from tests.simulation.timeline import SimulatedClock
from tests.simulation.zookeeper import SimulatedSession

if TYPE_CHECKING:
    from tests.simulation.world import World

PORT = 9092
#: What went wrong with a disk is still spoken of for so long.
_AFTER_TROUBLE_US = 1_000_000
#: Somebody starts a broker again that could not start.
_SUPERVISOR_PAUSE_US = 1_000_000


class BrokerProcess:
    """One broker id over all its lives."""

    def __init__(self, world: "World", broker_id: int, directory: Path, random: Random):
        self.world = world
        self.broker_id = broker_id
        self.name = f"broker-{broker_id}"
        self.machine = Machine(self.name, f"10.0.0.{broker_id}", world.network, random, world.internet)
        self._directory = directory
        self._random = random
        self._life = 0
        self.started_at_us = 0
        self._past: list[object] = []
        self.loop: HostLoop | None = None
        self.broker: Broker | None = None
        self.is_started = False
        self.is_paused = False
        self._has_lost_power = False
        #: Its disk is replaced by an empty one before the next start.
        self._has_lost_disk = False
        #: Draws the logs that will be missing at the next start.
        self._logs_lost: Random | None = None
        #: From the loss of power until what it has left is served again.
        self.is_without_power = False
        #: The names of logs that a power cut has left a hole in, if a later segment was synced.
        self.shortened_logs: set[str] = set()
        #: When it was last killed, paused, started, slowed down or cut off from clients, or came back from that.
        self.disturbed_at_us = 0
        self._disk_mended_at_us = -_AFTER_TROUBLE_US
        self._looked_at: dict[tuple, int] = {}

    @property
    def life(self) -> int:
        return self._life

    def disturb(self) -> None:
        self.disturbed_at_us = self.world.timeline.now_us

    @property
    def is_running(self) -> bool:
        return self.loop is not None

    @property
    def log_directory(self) -> Path:
        return self._directory / f"life-{self._life}"

    def start(self) -> None:
        """Nothing happens if it runs."""
        if self.is_running:
            return
        self._next_directory()
        self.loop = HostLoop(self.world.timeline, self.machine, self.name, self.world.syscalls)
        self.loop.on_exception = self._on_exception
        self._has_lost_power = False
        self.started_at_us = self.world.timeline.now_us
        self.world.history.add(self.name, "process started", life=self._life)
        self.loop.call_soon(self._begin)

    def _next_directory(self) -> None:
        before = self.log_directory
        self._life += 1
        if before.exists() and not (self._has_lost_power or self._has_lost_disk):
            self.world.disk.after_kill(before, self.log_directory)
            self._remove_logs()
            return
        if not before.exists() or self._has_lost_disk:
            self.log_directory.mkdir(parents=True)
            self._has_lost_disk = False
        else:
            self.world.disk.after_power_cut(before, self.log_directory, self._random)
            self.shortened_logs |= _shortened_logs(before, self.log_directory)
        self.world.disk.adopt(self.log_directory)

    def _remove_logs(self) -> None:
        random, self._logs_lost = self._logs_lost, None
        for log in sorted(self.log_directory.glob("*-[0-9]")) if random is not None else ():
            if random.random() < 0.5:
                self.world.history.add(self.name, "log is gone", log=log.name)
                shutil.rmtree(log)

    def _begin(self) -> None:
        self._main = self.loop.create_task(self._serve())
        self._main.add_done_callback(_raise_failure)

    async def _serve(self) -> None:
        config = read_broker_config(self._properties())
        session = SimulatedSession(self.world.ensemble, self.machine, config.zookeeper_session_timeout_ms)
        clock = SimulatedClock(self.world.timeline, lambda: self.machine.wall_offset_ms)
        self.broker = Broker(config, clock, session)
        try:
            await self.broker.start()
        except (StartupError, OSError) as error:
            if isinstance(error, OSError) and not self.is_in_disk_trouble:
                raise
            reason = str(error).replace(str(self._directory.parent), "")  # it has another name in each run
            self.world.history.add(self.name, "start failed", reason=reason)
            self.loop.call_soon(self._end, _SUPERVISOR_PAUSE_US)
            return
        #: It goes on with its start, waiting for its earlier session perhaps for longer than the disk is in trouble.
        has_failed_at_start = self.broker.failed.is_set() and self._disk_mended_at_us > self.started_at_us
        self.is_started = True
        self.disturb()
        self.is_without_power = False
        self.world.history.add(self.name, "serves")
        await self.broker.failed.wait()
        if not (self.is_in_disk_trouble or has_failed_at_start):
            self.world.history.violate(f"{self.name} has lost its last log directory, and its disk is well")
        self.loop.call_soon(self._end, _SUPERVISOR_PAUSE_US)

    def _properties(self) -> str:
        properties = {
            "broker.id": self.broker_id,
            "listeners": f"PLAINTEXT://{self.machine.address}:{PORT}",
            "log.dirs": self.log_directory,
            "zookeeper.connect": "zookeeper:2181",
            "auto.create.topics.enable": "false",
            **self.world.settings,
        }
        return "".join(f"{key}={value}\n" for key, value in properties.items())

    def _on_exception(self, context: dict) -> None:
        self.world.history.violate(f"{self.name}: {describe_exception(context)}")

    # -- faults

    def trouble_disk(self, trouble: str, lasts_us: int) -> None:
        """Nothing if it is in trouble already."""
        if self.machine.disk_trouble is None:
            self.disturb()
            self.machine.disk_trouble = trouble
            self.world.timeline.plan_in(lasts_us, self.mend_disk)

    def mend_disk(self) -> None:
        if self.machine.disk_trouble is not None:
            self.disturb()
            self._disk_mended_at_us = self.world.timeline.now_us
            self.machine.mend_disk()

    @property
    def is_in_disk_trouble(self) -> bool:
        """Or was a moment ago."""
        is_over = self.world.timeline.now_us - self._disk_mended_at_us > _AFTER_TROUBLE_US
        return self.machine.disk_trouble is not None or not is_over

    def kill(self) -> None:
        """SIGKILL. The kernel closes its sockets; ZooKeeper hears nothing."""
        if self.loop is None:
            return
        for sock in self.loop.kill():
            sock.abandon(self._random)
        self._forget_life("killed")

    def cut_power(self) -> None:
        """The machine goes as well: what was not synced may be lost, and nobody is told."""
        if self.loop is None:
            return
        for sock in self.loop.kill():
            sock.vanish()
        self._has_lost_power = True
        self.is_without_power = True
        self._forget_life("power is cut")

    def lose_disk(self) -> None:
        """The machine is without power, and its disk is gone: at the next start nothing is there."""
        self.cut_power()
        self._has_lost_disk = True
        self.world.history.add(self.name, "disk is gone")

    def lose_logs(self, random: Random) -> None:
        """SIGKILL, and some logs are not there at the next start: until it serves, it is as without power."""
        self.kill()
        self._logs_lost = random
        self.is_without_power = True

    def _forget_life(self, how: str) -> None:
        self.disturb()
        self._past.append((self.loop, self.broker, self._main if hasattr(self, "_main") else None))
        self.loop = self.broker = None
        self.is_started = self.is_paused = False
        self.world.history.add(self.name, how)

    def pause(self) -> None:
        if self.loop is not None and not self.is_paused:
            self.is_paused = True
            self.disturb()
            self.loop.pause()
            self.world.history.add(self.name, "paused")

    def resume(self) -> None:
        if self.loop is not None and self.is_paused:
            self.is_paused = False
            self.disturb()
            self.loop.resume()
            self.world.history.add(self.name, "resumed")

    def stop(self, restart_after_us: int) -> None:
        """SIGTERM: the broker stops as it should, then its process ends, and is started again later."""
        if self.is_started:
            self.world.history.add(self.name, "told to stop")
            self.is_started = False
            self.disturb()
            self._main = self.loop.create_task(self._stop(self.broker, restart_after_us))
            self._main.add_done_callback(_raise_failure)

    async def _stop(self, broker: Broker, restart_after_us: int) -> None:
        await broker.stop()
        self.loop.call_soon(self._end, restart_after_us)

    def _end(self, restart_after_us: int) -> None:
        self.kill()
        self.world.timeline.plan_in(restart_after_us, self.start)

    def break_connections(self) -> None:
        self.disturb()
        for sock in self.loop.connected_sockets():
            sock.on_reset()
            sock.break_off(self._random)

    # -- what is inside, for the checkers

    @property
    def _replicas(self) -> ReplicaManager | None:
        return self.broker.services.replicas if self.is_started else None

    def committed_since_last_look(self) -> Iterator[tuple[UUID, TopicPartition, bytes]]:
        """(topic id, partition, batches) of each replica, below its high watermark."""
        for hosted in list(self._replicas or ()):
            if hosted.log.is_lent:
                continue
            place = (self._life, hosted.partition.topic_partition, hosted.topic_id)
            log_start_offset = hosted.log.log_start_offset
            begin = max(self._looked_at.get(place, log_start_offset), log_start_offset)
            end = hosted.partition.high_watermark
            if begin < end:
                self._looked_at[place] = end
                yield hosted.topic_id, hosted.partition.topic_partition, _read(hosted, begin, end)

    def leads(self, partition: TopicPartition, leader_epoch: int) -> bool:
        """As it believes itself, in that epoch."""
        hosted = self._replicas.get(*partition) if self._replicas is not None else None
        return hosted is not None and hosted.partition.is_leader and hosted.partition.leader_epoch == leader_epoch

    @property
    def raises_epochs(self) -> bool:
        """Whether it knows that the end of a transaction raises the epoch of its producer."""
        return self.is_started and raises_epochs(self.broker.services.features)

    @property
    def has_full_directory(self) -> bool:
        """As the broker itself has noticed."""
        if self._replicas is None:
            return False
        return any(self._replicas.logs.is_full(hosted.partition.topic_partition) for hosted in self._replicas)

    def serves(self, partition: TopicPartition) -> bool:
        """Coordinates by what is in it."""
        services = self.broker.services
        runtime = services.groups if partition.topic == OFFSETS_TOPIC else services.transactions
        return partition.partition in runtime.loaded_partitions()

    def pending_isrs(self, partition: TopicPartition) -> list[tuple[int, ...]]:
        """The ISR this broker, or its life before, is about to write."""
        hosted = self._replicas.get(*partition) if self._replicas is not None else None
        return [hosted.partition.pending_isr] if hosted is not None and hosted.partition.pending_isr else []

    def hosts(self, partition: TopicPartition) -> bool:
        return self._replicas is not None and self._replicas.get(*partition) is not None

    def log_below_high_watermark(self, partition: TopicPartition) -> tuple[int, bytes]:
        """Where the log begins, and its batches from there."""
        hosted = self._replicas.get(*partition)
        begin = hosted.log.log_start_offset
        return begin, _read(hosted, begin, hosted.partition.high_watermark)

    def high_watermark_of(self, partition: TopicPartition) -> int:
        return self._replicas.get(*partition).partition.high_watermark

    def producer_snapshots(self, partition: TopicPartition) -> list[int]:
        """The offsets of those of the partition's log."""
        hosted = self._replicas.get(*partition)
        names = hosted.log.directory.glob("*" + SNAPSHOT_SUFFIX) if hosted is not None else ()
        return sorted(int(path.stem) for path in names)

    def begins_behind(self, partition: TopicPartition, snapshots: list[int]) -> bool:
        """Whether one of these is still there, from before the partition's log begins, and does not know of the last
        batch of some producer, which is from before that as well.
        """
        left = set(snapshots).intersection(self.producer_snapshots(partition))
        log = self._replicas.get(*partition).log if left else None
        if log is None or log.is_lent:
            return False
        return any(max(left) <= offset < log.segments[0].base_offset for offset in log.last_offsets_of_producers)

    def waiting_to_be_told(self) -> list[TopicPartition]:
        """What it has counted and not told the audit of."""
        return self.broker._parts.auditor.appends.waiting()

    def unsettled(self, assigned: dict[TopicPartition, UUID]) -> list[str]:
        """What waits though no client asks anything any more, and replicas that are not as they should be: those that
        are `assigned` and no others, committed to their end.
        """
        services = self.broker.services
        waiting = {"fetches": len(services.delayed_fetches), "producers": len(services.delayed_produces)}
        reasons = [f"{count} {what} wait at {self.name}" for what, count in waiting.items() if count]
        present = {hosted.partition.topic_partition: hosted.topic_id for hosted in self._replicas}
        odd = sorted(present.items() ^ assigned.items())
        reasons += [f"{self.name} hosts or lacks {partition} of topic id {topic_id}" for partition, topic_id in odd]
        for hosted in self._replicas:
            if hosted.partition.high_watermark != hosted.log.log_end_offset:
                reasons.append(f"{self.name}: {hosted.partition.topic_partition} is not committed to its end")
        return reasons


def _shortened_logs(before: Path, after: Path) -> set[str]:
    """The logs in `before` of which a segment that is not the last one has lost its end in `after`, or is missing."""
    inner = [segment for log in before.glob("*-[0-9]") for segment in sorted(log.glob("*.log"))[:-1]]
    left = {segment: after / segment.relative_to(before) for segment in inner}
    return {
        segment.parent.name
        for segment, copy in left.items()
        if not copy.exists() or copy.read_bytes() != segment.read_bytes()
    }


def describe_exception(context: dict) -> str:
    error = context.get("exception")
    return f"{context.get('message')} {''.join(traceback.format_exception(error)) if error else ''}"


def _raise_failure(task: asyncio.Task) -> None:
    """As a callback: the loop reports it."""
    if not task.cancelled():
        task.result()


def _read(hosted: HostedPartition, begin: int, end: int) -> bytes:
    data = bytearray()
    while begin < end:
        log_slice = hosted.log.read(begin, 1_000_000, end, at_least_one=True)
        if not log_slice.length:  # compaction has left nothing up to the end
            break
        data += log_slice.read()
        begin = hosted.log.offset_after(begin, log_slice)
    return bytes(data)


class ClientProcess:
    """A process of one task, which never dies."""

    def __init__(self, world: "World", name: str, number: int, random: Random):
        self.name = name
        self.random = random
        self.machine = Machine(name, f"10.0.1.{number}", world.network, random, world.internet)
        self.loop = HostLoop(world.timeline, self.machine, name, world.syscalls)
        self.loop.on_exception = lambda context: world.history.violate(f"{name}: {describe_exception(context)}")
        self.task: asyncio.Task | None = None

    def now_us(self) -> int:
        return self.machine.network.timeline.now_us

    def run(self, work) -> None:
        def begin() -> None:
            self.task = self.loop.create_task(work)
            self.task.add_done_callback(_raise_failure)

        self.loop.call_soon(begin)
