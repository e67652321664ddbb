"""What would be if brokers or a rack were lost, brokers were added, more were written, more were kept. Pure.

Whoever is lost is lost at once: the first of the other in-sync replicas leads, in the order of assignment, as Kafka's
controller elects; a partition without one is offline. Brokers that are added hold nothing until a balance gives them
something, so that is proposed and counted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from console.cluster.placement.optimise import GOALS, Weighed, loads_of, propose_balance
from console.kit.gateway.groups.interface import TopicPartition

#: Partitions that are named one by one.
NAMED_MAX = 50
ADDED_MAX = 20
#: What a balance over brokers that were added is worked out for at most.
_CHANGES_MAX = 500


@dataclass(frozen=True, slots=True)
class PartitionNow:
    """A partition now: its leader (None: none), its ISR, and min.insync.replicas."""

    weighed: Weighed
    leader: int | None
    isr: tuple[int, ...]
    min_isr: int


@dataclass(frozen=True, slots=True)
class Scenario:
    """`traffic` and `kept` multiply what is written and read, and what is on disk."""

    lost: frozenset[int] = frozenset()
    added: int = 0
    traffic: float = 1.0
    kept: float = 1.0

    @property
    def is_nothing(self) -> bool:
        return self == Scenario()


@dataclass(frozen=True, slots=True)
class BrokerLoad:
    """Load of a broker by goal, in the order of GOALS; `before` None: it was added, `after` None: it was lost."""

    broker_id: int
    before: tuple[float, ...] | None
    after: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class WhatIfOutcome:
    """Partitions by what becomes of them, and what each broker has before and after."""

    offline: tuple[TopicPartition, ...] = ()
    #: Led, but with fewer in sync than acks=all needs.
    refusing: tuple[TopicPartition, ...] = ()
    #: Short of replicas, those that refuse among them.
    short: tuple[TopicPartition, ...] = ()
    led_by_others: int = 0
    loads: tuple[BrokerLoad, ...] = ()
    #: With brokers added: how many partitions a balance would change, and what it would copy.
    moved: int = 0
    copied_bytes: int = 0
    is_cut: bool = False


def outcome(seen: Sequence[PartitionNow], racks: Mapping[int, str], scenario: Scenario) -> WhatIfOutcome:
    """Return the outcome. `racks`: the brokers that are registered."""
    before = loads_of(map(_as_led, seen), racks)
    after = [_after(item, scenario) for item in seen]
    open_racks = {broker: rack for broker, rack in racks.items() if broker not in scenario.lost} | _added(
        racks, scenario
    )
    led = [partition for partition in after if partition.leader is not None]
    there = [_left(_as_led(item), scenario) for item in led]
    moved, copied, is_cut = 0, 0, False
    if scenario.added:
        proposal = propose_balance(there, open_racks, GOALS, _CHANGES_MAX)
        moved, is_cut = len(proposal.targets), proposal.is_cut
        copied = sum(
            _copied(weighed, proposal.targets[weighed.place]) for weighed in there if weighed.place in proposal.targets
        )
        there = [
            replace(partition, replicas=proposal.targets.get(partition.place, partition.replicas))
            for partition in there
        ]
    loads = loads_of(there, open_racks)
    return WhatIfOutcome(
        offline=_places(seen for seen in after if seen.leader is None),
        refusing=_places(seen for seen in led if len(seen.isr) < min(seen.min_isr, len(seen.weighed.replicas))),
        short=_places(seen for seen in led if not {*seen.weighed.replicas} <= {*seen.isr}),
        led_by_others=sum(
            one.leader != other.leader for one, other in zip(seen, after, strict=True) if other.leader is not None
        ),
        loads=tuple(
            BrokerLoad(broker, _tuple(before.get(broker)), _tuple(loads.get(broker)))
            for broker in sorted({*before, *loads})
        ),
        moved=moved,
        copied_bytes=copied,
        is_cut=is_cut,
    )


def _after(seen: PartitionNow, scenario: Scenario) -> PartitionNow:
    """Return the partition after the election of `OfflinePartitionLeaderElection`: the first live replica of the
    assignment that is in sync.
    """
    isr = tuple(broker for broker in seen.isr if broker not in scenario.lost)
    leader = seen.leader
    if leader is None or leader in scenario.lost:
        leader = None if leader is None else next((one for one in seen.weighed.replicas if one in isr), None)
    weighed = replace(
        seen.weighed,
        size_bytes=round(seen.weighed.size_bytes * scenario.kept),
        in_per_second=seen.weighed.in_per_second * scenario.traffic,
        read_per_second=seen.weighed.read_per_second * scenario.traffic,
    )
    return PartitionNow(weighed, leader, isr, seen.min_isr)


def _as_led(seen: PartitionNow) -> Weighed:
    """Return the replicas with the current leader first, whoever is preferred."""
    replicas = seen.weighed.replicas
    if seen.leader is None or seen.leader not in replicas:
        return seen.weighed
    return replace(seen.weighed, replicas=(seen.leader, *(one for one in replicas if one != seen.leader)))


def _left(weighed: Weighed, scenario: Scenario) -> Weighed:
    """Return the load after the scenario's losses; lost replicas are not re-created."""
    return replace(weighed, replicas=tuple(one for one in weighed.replicas if one not in scenario.lost))


def _added(racks: Mapping[int, str], scenario: Scenario) -> dict[int, str]:
    """Return added brokers, numbered after all others, on the racks that have fewest."""
    counted = {rack: list(racks.values()).count(rack) for rack in sorted(set(racks.values())) or [""]}
    added = {}
    for number in range(scenario.added):
        rack = min(counted, key=lambda name: (counted[name], name))
        counted[rack] += 1
        added[max(racks, default=0) + 1 + number] = rack
    return added


def _copied(partition: Weighed, target: tuple[int, ...]) -> int:
    return partition.size_bytes * len({*target} - {*partition.replicas})


def _places(partitions: Iterable[PartitionNow]) -> tuple[TopicPartition, ...]:
    return tuple(seen.weighed.place for seen in partitions)


def _tuple(load: Collection[float] | None) -> tuple[float, ...] | None:
    return None if load is None else tuple(load)
