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
class Seen:
    """A partition now: who leads (None: nobody), who is in sync, and what acks=all needs."""

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
    """Of each goal, in the order of GOALS; `before` None: it was added, `after` None: it was lost."""

    broker_id: int
    before: tuple[float, ...] | None
    after: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Outcome:
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


def outcome(seen: Sequence[Seen], racks: Mapping[int, str], scenario: Scenario) -> Outcome:
    """`racks`: the brokers that are registered."""
    before = loads_of(map(_as_led, seen), racks)
    after = [_after(each, scenario) for each in seen]
    open_racks = {broker: rack for broker, rack in racks.items() if broker not in scenario.lost} | _added(
        racks, scenario
    )
    led = [each for each in after if each.leader is not None]
    there = [_left(_as_led(each), scenario) for each in led]
    moved, copied, is_cut = 0, 0, False
    if scenario.added:
        proposal = propose_balance(there, open_racks, GOALS, _CHANGES_MAX)
        moved, is_cut = len(proposal.targets), proposal.is_cut
        copied = sum(_copied(each, proposal.targets[each.place]) for each in there if each.place in proposal.targets)
        there = [replace(each, replicas=proposal.targets.get(each.place, each.replicas)) for each in there]
    loads = loads_of(there, open_racks)
    return Outcome(
        offline=_places(each for each in after if each.leader is None),
        refusing=_places(each for each in led if len(each.isr) < min(each.min_isr, len(each.weighed.replicas))),
        short=_places(each for each in led if not {*each.weighed.replicas} <= {*each.isr}),
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


def _after(each: Seen, scenario: Scenario) -> Seen:
    """The election of `OfflinePartitionLeaderElection`: the first live replica of the assignment that is in sync."""
    isr = tuple(broker for broker in each.isr if broker not in scenario.lost)
    leader = each.leader
    if leader is None or leader in scenario.lost:
        leader = None if leader is None else next((one for one in each.weighed.replicas if one in isr), None)
    weighed = replace(
        each.weighed,
        size_bytes=round(each.weighed.size_bytes * scenario.kept),
        in_per_second=each.weighed.in_per_second * scenario.traffic,
        read_per_second=each.weighed.read_per_second * scenario.traffic,
    )
    return Seen(weighed, leader, isr, each.min_isr)


def _as_led(each: Seen) -> Weighed:
    """With the leader first, whoever is preferred."""
    replicas = each.weighed.replicas
    if each.leader is None or each.leader not in replicas:
        return each.weighed
    return replace(each.weighed, replicas=(each.leader, *(one for one in replicas if one != each.leader)))


def _left(each: Weighed, scenario: Scenario) -> Weighed:
    """Replicas that are lost are not made again elsewhere."""
    return replace(each, replicas=tuple(one for one in each.replicas if one not in scenario.lost))


def _added(racks: Mapping[int, str], scenario: Scenario) -> dict[int, str]:
    """Numbers after all there are, on the racks that have fewest brokers."""
    counted = {rack: list(racks.values()).count(rack) for rack in sorted(set(racks.values())) or [""]}
    added = {}
    for number in range(scenario.added):
        rack = min(counted, key=lambda each: (counted[each], each))
        counted[rack] += 1
        added[max(racks, default=0) + 1 + number] = rack
    return added


def _copied(partition: Weighed, target: tuple[int, ...]) -> int:
    return partition.size_bytes * len({*target} - {*partition.replicas})


def _places(found: Iterable[Seen]) -> tuple[TopicPartition, ...]:
    return tuple(each.weighed.place for each in found)


def _tuple(load: Collection[float] | None) -> tuple[float, ...] | None:
    return None if load is None else tuple(load)
