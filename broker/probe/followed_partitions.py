"""All that the probe knows: the cluster's topology, each record's fate, who is silent, what was counted. Pure.

`at_ms` is of a clock that never jumps, `now_ms` the time on the wall. Callers see to it that one thread is in here at
a time.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from broker.probe.fault_attribution import BrokerWatch
from broker.probe.ledger import LOST_AFTER_MS, ProbeLedger, ReadFate
from broker.probe.record import ProbeMark
from broker.probe.spread import PartitionState, View
from broker.probe.tally import MIRROR, Parts, ProbeTally, Tallies

Address = tuple[str, int]
#: A partition that could not be written or read for so long is told of.
TROUBLED_MS = 3_000.0


@dataclass(frozen=True, slots=True)
class Topology:
    """The topology as one broker returned it. Another `identity` means that the topic was recreated."""

    addresses: Mapping[int, Address] = field(default_factory=dict)
    racks: Mapping[int, str | None] = field(default_factory=dict)
    partitions: tuple[PartitionState, ...] = ()
    identity: str = ""

    @property
    def view(self) -> View:
        return View(self.racks, self.partitions)


@dataclass(slots=True)
class FollowedPartition:
    """One partition: its records, the next offset to read (None: where the next record is written), what ails it."""

    ledger: ProbeLedger = field(default_factory=ProbeLedger)
    #: The same records on their way through a mirror, if there is one.
    mirrored: ProbeLedger | None = None
    position: int | None = None
    failing_since_ms: float | None = None
    error: str = ""


class FollowedPartitions:
    def __init__(self, run: str, *, has_mirror: bool = False):
        self.run, self.has_mirror = run, has_mirror
        self._mirror_error, self._is_mirror_read = "", False
        self.topology = Topology()
        self.watch = BrokerWatch()
        self.tallies = Tallies()
        self.partitions: dict[int, FollowedPartition] = {}
        self._addresses: dict[int, Address] = {}

    def learn(self, topology: Topology) -> None:
        """Update the followed brokers: one that went away while it is a replica stays followed."""
        if topology.identity != self.topology.identity:
            self.partitions.clear()
        self.topology = topology
        self._addresses |= topology.addresses
        replicas = {broker for partition in topology.partitions for broker in partition.replicas}
        known = topology.addresses.keys() | (replicas & self._addresses.keys())
        self._addresses = {broker: self._addresses[broker] for broker in known}
        self.watch.follow(known)
        for partition in topology.partitions:
            self.partitions.setdefault(
                partition.index, FollowedPartition(mirrored=ProbeLedger() if self.has_mirror else None)
            )
        parts = (
            {f"broker/{item}" for item in known}
            | {f"partition/{partition}" for partition in self.partitions}
            | {"whole"}
        )
        parts |= {name for name in self.tallies.total if name.startswith(MIRROR)}
        self.tallies.forget(self.tallies.total.keys() - parts)

    @property
    def addresses(self) -> Mapping[int, Address]:
        """The addresses of every followed broker."""
        return self._addresses

    def led_by(self, broker: int) -> list[int]:
        return [partition.index for partition in self.topology.partitions if partition.leader == broker]

    def tick(self, at_ms: float, now_ms: int) -> list[int]:
        """Return the brokers to blame from now on."""
        self.tallies.at(now_ms)
        before = {broker: item.silent_ms for broker, item in self.watch.blamed.items()}
        fresh = self.watch.tick(at_ms, now_ms)
        for broker, item in self.watch.blamed.items():
            for tally in self.tallies.of(broker, None):
                tally.silent_ms += item.silent_ms - before.get(broker, 0.0)
        return fresh

    def answered(self, broker: int) -> bool:
        """Return whether that ends its being blamed."""
        for tally in self.tallies.of(broker, None):
            tally.answered += 1
        return self.watch.answer(broker)

    def unanswered(self, broker: int, why: str, *, is_broken: bool) -> None:
        for tally in self.tallies.of(broker, None):
            tally.unanswered += 1
        self.watch.fail(broker, why, is_broken=is_broken)

    def sending(self, partition: int, at_ms: float) -> ProbeMark:
        followed = self.partitions[partition]
        if followed.mirrored is not None and self._is_mirror_read:
            followed.mirrored.send(at_ms)
        elif followed.mirrored is not None:
            followed.mirrored.pass_by()
        return ProbeMark(self.run, partition, followed.ledger.send(at_ms))

    def written(self, broker: int, partition: int, index: int, offset: int, took_ms: float) -> None:
        followed = self.partitions.get(partition)
        if followed is None:
            return
        followed.ledger.acknowledge(index, offset)
        if followed.mirrored is not None:
            followed.mirrored.acknowledge(index, offset)
        if followed.position is None:
            followed.position = offset
        for tally in self.tallies.of(broker, partition):
            tally.written += 1
            tally.produce.add(took_ms)

    def not_written(
        self, broker: int | None, partition: int, index: int | None, at_ms: float, why: str, *, is_refused: bool
    ) -> None:
        """Note a record that was not acknowledged. `is_refused`: it is certainly not there. `index` None: it could not
        even be sent.
        """
        followed = self.partitions.get(partition)
        if followed is None:
            return
        if index is not None and is_refused:
            followed.ledger.refuse(index)
            if followed.mirrored is not None:
                followed.mirrored.refuse(index)
        _fails(followed, at_ms, why)
        for tally in self.tallies.of(broker, partition):
            tally.not_written += 1

    def fetched(
        self,
        broker: int,
        partition: int,
        marks: Iterable[ProbeMark],
        position: int,
        log_start: int,
        end: int,
        at_ms: float,
    ) -> None:
        """Note a fetch: everything before `position` has been read, and readers see up to `end`."""
        followed = self.partitions.get(partition)
        if followed is None:
            return
        tallies = self.tallies.of(broker, partition)
        for mark in marks:
            if mark.run == self.run:
                _count(tallies, *followed.ledger.read(mark.number, at_ms))
        followed.position = position
        lost = followed.ledger.judge(position, log_start, end, at_ms)
        followed.ledger.skip(LOST_AFTER_MS, at_ms)
        for tally in tallies:
            tally.fetched += 1
            tally.lost += lost

    def mirrored(self, marks: Iterable[ProbeMark], at_ms: float) -> None:
        """Note these marks as read in the mirror."""
        for mark in marks:
            followed = self.partitions.get(mark.partition)
            if mark.run == self.run and followed is not None and followed.mirrored is not None:
                _count(self.tallies.at_mirror(mark.partition), *followed.mirrored.read(mark.number, at_ms))

    def mirror_looked(self, at_ms: float, error: str) -> None:
        """Note that all of the mirror was read, or the error. What was sent before the first time is not looked for."""
        self._mirror_error, self._is_mirror_read = error, self._is_mirror_read or not error
        for tally in self.tallies.at_mirror():
            tally.not_fetched += bool(error)
            tally.fetched += not error
        for partition, followed in self.partitions.items():
            if followed.mirrored is not None:
                lost = 0 if error else followed.mirrored.judge_overtaken(at_ms)
                followed.mirrored.skip(LOST_AFTER_MS, at_ms)
                for tally in self.tallies.at_mirror(partition):
                    tally.lost += lost

    def well(self, partition: int) -> None:
        """Note that the partition was written and read."""
        if partition in self.partitions:
            self.partitions[partition].failing_since_ms, self.partitions[partition].error = None, ""

    def not_fetched(
        self, broker: int | None, partition: int, at_ms: float, why: str, *, is_out_of_range: bool = False
    ) -> None:
        """Note a failed fetch. `is_out_of_range`: reading goes on where the next record is written."""
        followed = self.partitions.get(partition)
        if followed is None:
            return
        if is_out_of_range:
            followed.position = None
        _fails(followed, at_ms, why)
        for tally in self.tallies.of(broker, partition):
            tally.not_fetched += 1

    def count_leaderless(self, at_ms: float) -> None:
        """Note every leaderless partition as neither written nor fetched."""
        for partition in self.topology.partitions:
            if partition.leader not in self._addresses:
                self.not_written(None, partition.index, None, at_ms, "it has no leader", is_refused=True)
                self.not_fetched(None, partition.index, at_ms, "it has no leader")

    def troubled(self, at_ms: float) -> list[dict[str, object]]:
        """Return partitions that fail for a while, each with the blamed brokers among its replicas: none explain it."""
        blamed = self.watch.blamed.keys()
        return [
            {
                "partition": partition.index,
                "for_ms": at_ms - since,
                "error": followed.error,
                "blamed": _in(blamed, partition),
            }
            for partition in self.topology.partitions
            if (followed := self.partitions[partition.index]) and (since := followed.failing_since_ms) is not None
            if at_ms - since >= TROUBLED_MS
        ]

    def status(self, at_ms: float, now_ms: int, since_ms: int) -> dict[str, object]:
        """Return the status for the console: the present, the totals since the start, and minutes from
        `since_ms` on.
        """
        return {
            "run": self.run,
            "now_ms": now_ms,
            "brokers": {str(broker): self._standing(broker) for broker in self._addresses},
            "partitions": {
                str(partition.index): {
                    "leader": partition.leader,
                    "replicas": partition.replicas,
                    "waiting": self._waiting(partition.index),
                }
                for partition in self.topology.partitions
            },
            "troubled": self.troubled(at_ms),
            "mirror": self._mirror() if self.has_mirror else None,
            "total": _as_json(self.tallies.total),
            "minutes": [[begins_ms, _as_json(parts)] for begins_ms, parts in self.tallies.minutes(since_ms)],
        }

    def _standing(self, broker: int) -> dict[str, object]:
        blame = self.watch.brokers[broker]
        figures: dict[str, object] = {
            "leads": len(self.led_by(broker)),
            "registered": broker in self.topology.addresses,
        }
        if blame.is_blamed:
            figures |= {"blamed_at_ms": blame.blamed_at_ms, "noticed_after_ms": round(blame.noticed_after_ms)}
            figures |= {"silent_ms": round(blame.silent_ms), "why": blame.why}
        return figures

    def _mirror(self) -> dict[str, object]:
        """Return the mirror's figures; `waiting`: records that have not come."""
        ledgers = [partition.mirrored for partition in self.partitions.values() if partition.mirrored is not None]
        return {"waiting": sum(ledger.waiting for ledger in ledgers), "error": self._mirror_error}

    def _waiting(self, partition: int) -> int:
        return self.partitions[partition].ledger.waiting


def _in(blamed: Collection[int], state: PartitionState) -> list[int]:
    return sorted(set(blamed) & {*state.replicas, state.leader})


def _fails(followed: FollowedPartition, at_ms: float, why: str) -> None:
    followed.error = why
    if followed.failing_since_ms is None:
        followed.failing_since_ms = at_ms


def _count(tallies: Sequence[ProbeTally], fate: ReadFate, took_ms: float | None) -> None:
    for tally in tallies:
        if fate is ReadFate.DUPLICATE:
            tally.duplicated += 1
            continue
        if fate is ReadFate.FORGOTTEN:
            continue
        tally.read += 1
        tally.reordered += fate is ReadFate.REORDERED
        tally.lost -= fate is ReadFate.FOUND
        if took_ms is not None:
            tally.end_to_end.add(took_ms)


def _as_json(parts: Parts) -> dict[str, object]:
    return {name: tally.as_json() for name, tally in parts.items()}
