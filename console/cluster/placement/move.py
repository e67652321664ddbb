"""Moving partitions by hand as a plan: old and new replicas, what is copied, what each broker holds then. Pure."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from console.cluster.placement.election import Load
from console.cluster.placement.sentences import count_of, ids
from console.kit.common.figures import size
from console.kit.common.foreign_json import parse_foreign_json
from console.kit.gateway.commands import shell_command
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.moves.interface import MoveView
from console.kit.plans.plan import Plan, PlanLine

#: Where each partition shall live, preferred leader first.
Targets = Mapping[TopicPartition, tuple[int, ...]]

MOVE, UNDO = "move partitions", "undo move"
DRAIN, SPREAD, BALANCE, FACTOR = "drain broker", "spread replicas", "balance brokers", "change replication factor"
DEMOTE = "demote broker"
#: One plan moves no more: it is shown, sent back and handed to the controller as a whole.
PARTITIONS_MAX = 2_000
#: Obstacles of one kind that are named one by one.
_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class PartitionMove:
    """The move of one partition; `size_bytes` is that of one replica, None if unknown."""

    topic: str
    partition: int
    old: tuple[int, ...]
    new: tuple[int, ...]
    size_bytes: int | None = None

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def adding(self) -> tuple[int, ...]:
        return tuple(item for item in self.new if item not in self.old)

    @property
    def removing(self) -> tuple[int, ...]:
        return tuple(item for item in self.old if item not in self.new)

    @property
    def copied_bytes(self) -> int:
        return (self.size_bytes or 0) * len(self.adding)


@dataclass(frozen=True, slots=True)
class PlacementFacts:
    """What a plan is worked out from."""

    present: Mapping[TopicPartition, tuple[int, ...]]
    under_way: Mapping[TopicPartition, MoveView]
    alive: frozenset[int]
    #: Bytes of one replica.
    sizes: Mapping[TopicPartition, int]
    #: broker → replicas held, and partitions it is the preferred leader of.
    replica_counts: Mapping[int, int]
    preferred_counts: Mapping[int, int]
    #: Who has a throttled move under way; empty: nobody.
    throttled_by: str = ""
    #: topic → its id: another topic of the name is not what was planned for.
    topic_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MovePlan:
    """`rate` is the throttle in bytes per second on each broker, None without one."""

    moves: tuple[PartitionMove, ...]
    stays: tuple[str, ...]
    obstacle: str
    replicas: tuple[Load, ...]
    preferred: tuple[Load, ...]
    rate: int | None = None
    topic_ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def copied_bytes(self) -> int:
        return sum(move.copied_bytes for move in self.moves)

    @property
    def brokers(self) -> tuple[int, ...]:
        """Every broker that a partition leaves, joins or stays on."""
        return tuple(sorted({item for move in self.moves for item in (*move.old, *move.new)}))

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted({move.topic for move in self.moves}))

    @property
    def wanted(self) -> dict[str, dict[str, list[int]]]:
        """topic → partition → replicas, as it travels through a form."""
        return nested({(move.topic, move.partition): move.new for move in self.moves})

    @property
    def former(self) -> dict[str, dict[str, list[int]]]:
        return nested({(move.topic, move.partition): move.old for move in self.moves})

    @property
    def loads(self) -> list[tuple[Load, Load]]:
        """Replicas held and partitions preferred, of each broker."""
        by_broker = {load.broker_id: load for load in self.preferred}
        return [(load, by_broker.get(load.broker_id, Load(load.broker_id, 0, 0))) for load in self.replicas]

    @property
    def least_ms(self) -> int | None:
        """The shortest possible duration with the throttle."""
        received = Counter[int]()
        for move in self.moves:
            received.update(dict.fromkeys(move.adding, move.size_bytes or 0))
        return None if self.rate is None else round(1_000 * max(received.values(), default=0) / self.rate)

    def throttled(self, rate: int | None) -> "MovePlan":
        """Return the same move with another throttle, which replaces any throttle of other moves."""
        return replace(self, rate=rate)

    @property
    def json_file(self) -> str:
        """The file that kafka-reassign-partitions reads."""
        return reassignment_json({(move.topic, move.partition): move.new for move in self.moves})

    def as_plan(self, bootstrap_servers: str, action: str = MOVE) -> Plan:
        return Plan(
            action=action,
            object_type="topic" if len(self.topics) == 1 else "cluster",
            object_name=self.topics[0] if len(self.topics) == 1 else f"{len(self.topics)} topics",
            lines=tuple(PlanLine(move.name, list(move.old), list(move.new)) for move in self.moves),
            read=(
                f"throttle={self.rate}",
                *(f"{move.name} {move.old}>{move.new}" for move in self.moves),
                *(f"{topic} {self.topic_ids.get(topic, '')}" for topic in self.topics),
            ),
            touches=tuple(_touches(self)),
            losses=tuple(_fewer_copies(self.moves)),
            safe_because="Replicas that go are deleted only when all copies are in sync.",
            undo="the former replicas are kept, and can be planned again from the placement page; "
            "as long as it is under way it can be called off.",
            command=shell_command(
                "kafka-reassign-partitions",
                bootstrap_servers,
                {"reassignment-json-file": "moves.json", "execute": True, "throttle": self.rate or None},
            ),
            about=self.topics,
            obstacle=self.obstacle,
        )


def plan_moves(targets: Targets, world: PlacementFacts, rate: int | None = None) -> MovePlan:
    """Plan the moves from the current state to `targets`, leaving out those already there."""
    moves, stays = [], []
    for place, target in sorted(targets.items()):
        old = world.present.get(place, ())
        if target == old and place not in world.under_way:
            stays.append(f"{place[0]}-{place[1]}")
        else:
            moves.append(PartitionMove(*place, old, target, world.sizes.get(place)))
    return MovePlan(
        tuple(moves),
        tuple(stays),
        _obstacle(moves, world, rate),
        _loads(world.replica_counts, moves, lambda replicas: replicas),
        _loads(world.preferred_counts, moves, lambda replicas: replicas[:1]),
        rate,
        world.topic_ids,
    )


def parse_targets(text: str) -> dict[TopicPartition, tuple[int, ...]]:
    """Return the opposite of `MovePlan.wanted` as JSON. Raises ValueError for what is no such thing."""
    try:
        targets = flat(parse_foreign_json(text))
    except RecursionError:
        raise ValueError("no replicas by topic and partition") from None
    if any(not 0 <= partition < 2**31 for _, partition in targets):
        raise ValueError("a partition is a number from 0 on")
    if len(targets) > PARTITIONS_MAX:
        raise ValueError(f"more than {PARTITIONS_MAX} partitions")
    return targets


def flat(wanted: Mapping[str, Mapping[str, list[int]]]) -> dict[TopicPartition, tuple[int, ...]]:
    targets: dict[TopicPartition, tuple[int, ...]] = {}
    try:
        for topic, partitions in wanted.items():
            for number, replicas in partitions.items():
                if not all(type(replica) is int and 0 <= replica < 2**31 for replica in replicas):
                    raise ValueError(f"{replicas!r} are no brokers")
                targets[topic, int(number)] = tuple(replicas)
    except (AttributeError, TypeError) as error:
        raise ValueError("no replicas by topic and partition") from error
    return targets


def nested(targets: Targets) -> dict[str, dict[str, list[int]]]:
    by_topic: dict[str, dict[str, list[int]]] = {}
    for (topic, partition), replicas in targets.items():
        by_topic.setdefault(topic, {})[str(partition)] = list(replicas)
    return by_topic


def reassignment_json(targets: Targets) -> str:
    partitions = [
        {"topic": topic, "partition": number, "replicas": list(replicas)}
        for (topic, number), replicas in targets.items()
    ]
    return json.dumps({"version": 1, "partitions": partitions})


def _touches(plan: MovePlan) -> Iterable[str]:
    if not plan.moves:
        yield "No partition moves."
        return
    adding = sorted({item for move in plan.moves for item in move.adding})
    removing = sorted({item for move in plan.moves for item in move.removing})
    if adding:
        unknown = sum(move.size_bytes is None for move in plan.moves)
        more = f", and {count_of(unknown, 'partition')} nobody has told the size of" if unknown else ""
        yield f"It copies {size(plan.copied_bytes)} to {_brokers(adding)}{more}."
    if removing:
        yield f"When all copies are in sync, replicas are deleted from {_brokers(removing)}."
    if not adding and not removing:
        yield "Only the order of replicas changes, which decides the preferred leader; nothing is copied."
    yield (
        f"Brokers touched: {ids(plan.brokers)}. Producers and consumers go on; "
        "those of a leader that goes look for the new one, usually within a second."
    )
    yield from _factors(plan.moves)
    if plan.rate is not None:
        yield (
            f"No broker gives or takes more than {size(plan.rate)} per second for it. "
            "The throttle is taken away by itself when the last partition has arrived."
        )


def _changed_factors(moves: Iterable[PartitionMove]) -> list[tuple[str, int, int, int]]:
    """Return topic, replicas before and after, and the number of such partitions, where both differ."""
    changed: dict[tuple[str, int, int], int] = Counter(
        (move.topic, len(move.old), len(move.new)) for move in moves if move.old and len(move.old) != len(move.new)
    )
    return [(*key, count) for key, count in sorted(changed.items())]


def _fewer_copies(moves: Iterable[PartitionMove]) -> Iterable[str]:
    for topic, old, new, count in [change for change in _changed_factors(moves) if change[2] < change[1]][:10]:
        warning = " With one copy its records are lost with the disk of their broker." if new == 1 else ""
        yield f"{topic}: {count_of(count, 'partition')} with {new} replicas instead of {old}.{warning}"


def _factors(moves: Iterable[PartitionMove]) -> Iterable[str]:
    """Yield a sentence for each replication factor that grows."""
    for topic, old, new, count in _changed_factors(moves)[:10]:
        if new > old:
            yield f"{topic}: {count_of(count, 'partition')} with {new} replicas instead of {old}."


def _obstacle(moves: Iterable[PartitionMove], world: PlacementFacts, rate: int | None) -> str:
    """Return why the moves cannot be made now; empty: they can."""
    moves = list(moves)
    if len(moves) > PARTITIONS_MAX:
        return f"One plan moves at most {PARTITIONS_MAX:,} partitions; these are {len(moves):,}."
    unknown = [move.name for move in moves if not move.old]
    if unknown:
        return f"There is no partition {_some(unknown)}."
    crooked = [move.name for move in moves if not move.new or len(set(move.new)) < len(move.new)]
    if crooked:
        return f"Each broker is named once, and at least one for each partition: {_some(crooked)}."
    missing = sorted({item for move in moves for item in move.new} - world.alive)
    if missing:
        is_are = "is" if len(missing) == 1 else "are"
        return f"{_brokers(missing).capitalize()} {is_are} not registered: the move could not end. Start it first."
    moving = [move.name for move in moves if (move.topic, move.partition) in world.under_way]
    if moving:
        return f"Already being reassigned: {_some(moving)}. Wait until that is complete, or call it off first."
    if rate is not None and world.throttled_by:
        return throttle_obstacle(world.throttled_by)
    return ""


def throttle_obstacle(throttled_by: str) -> str:
    return f"A throttled move is under way ({throttled_by}): wait for its end, or move without a throttle."


#: Brokers of a partition → those that are counted.
Counted = Callable[[tuple[int, ...]], Iterable[int]]


def _loads(counts: Mapping[int, int], moves: Iterable[PartitionMove], counted: Counted) -> tuple[Load, ...]:
    before, after = Counter(dict(counts)), Counter(dict(counts))
    for move in moves:
        after.subtract(counted(move.old))
        after.update(counted(move.new))
    return tuple(Load(number, before[number], after[number]) for number in sorted(before.keys() | after.keys()))


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED_MAX
    return ", ".join(names[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def _brokers(broker_ids: list[int]) -> str:
    return f"broker{'' if len(broker_ids) == 1 else 's'} {ids(broker_ids)}"
