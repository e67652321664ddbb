"""The one guard before a broker goes: what is offline without it, what falls below min.insync.replicas. Pure.
Before a ZooKeeper server goes it says whether those that are left are a quorum.

Stop, restart, kill, rolling restart and decommission all ask it, so that none of them knows less than another. A
partition is judged by who would be in sync without the broker and without those that are away already: an ISR is cut
only when somebody has noticed. What is not known is never taken for harmless.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

#: The collector looks at brokers and topics every second or two; what is older than that is said to be old.
FRESH_MS = 15_000
#: Kafka's own topics whose leaders coordinate: a group, or the transactions of a producer.
GROUPS_TOPIC, TRANSACTIONS_TOPIC = "__consumer_offsets", "__transaction_state"


@dataclass(frozen=True, slots=True)
class Hosted:
    """One partition as far as a broker's absence matters to it. `min_isr` None: the cluster has not said."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int | None
    min_isr: int | None

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def needed(self) -> int | None:
        """Replicas in sync that acks=all asks for; never more than there are replicas, as since Kafka 3.7."""
        return None if self.min_isr is None else min(self.min_isr, len(self.replicas))


class PartitionFate(StrEnum):
    """What a partition comes to."""

    UNTOUCHED = "untouched"
    THINNER = "one replica less in sync"
    MOVED = "led by another broker"
    UNKNOWN = "min.insync.replicas not known"
    BELOW = "below min.insync.replicas"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardFacts:
    """What is known now. `seen_at_ms`: when the oldest part of it was seen, 0 for never; `error`: why it may be wrong.

    `away`: brokers that are not registered, do not run or are asked to end. `groups`: broker → groups it coordinates.
    """

    now_ms: int
    seen_at_ms: int
    partitions: Iterable[Hosted]
    error: str = ""
    controller_id: int | None = None
    away: frozenset[int] = frozenset()
    groups: Mapping[int, Sequence[str]] = field(default_factory=dict)

    @property
    def is_doubtful(self) -> bool:
        return bool(self.error) or not self.seen_at_ms or self.now_ms - self.seen_at_ms > FRESH_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """What it means that `broker_id` is away. Partitions stand in one of the lists, in the order they were read.

    `below` fall below their minimum with it, `already` are below it, or offline, before.
    """

    broker_id: int
    offline: tuple[Hosted, ...] = ()
    below: tuple[Hosted, ...] = ()
    unknown: tuple[Hosted, ...] = ()
    moved: int = 0
    thinner: int = 0
    already: int = 0
    is_controller: bool = False
    #: Partitions it leads of each topic whose leaders coordinate, and the groups known to be coordinated by it.
    group_shards: int = 0
    transaction_shards: int = 0
    groups: tuple[str, ...] = ()
    #: Others that are away.
    away: tuple[int, ...] = ()
    seen_at_ms: int = 0
    now_ms: int = 0
    error: str = ""
    is_doubtful: bool = False

    @property
    def is_harmful(self) -> bool:
        """Whether clients are refused meanwhile, or that cannot be ruled out."""
        return bool(self.offline or self.below or self.unknown or self.is_doubtful)

    @property
    def confirmed(self) -> tuple[str, ...]:
        """What a confirmation covers, one text each, without figures that keep changing."""
        lists = {"offline": self.offline, "below": self.below, "unknown": self.unknown}
        named = (f"{word}={sorted(item.name for item in listed)}" for word, listed in lists.items())
        roles = f"controller={self.is_controller}", f"coordinates={self.group_shards},{self.transaction_shards}"
        return (*named, *roles, f"away={list(self.away)}", f"doubtful={self.is_doubtful}")


def fate_of(partition: Hosted, broker_id: int, away: frozenset[int]) -> PartitionFate:
    """Return what becomes of `partition` when `broker_id` stops; `away` are others that are gone already."""
    before = set(partition.isr) - (away - {broker_id})
    after = before - {broker_id}
    if broker_id not in before:
        return PartitionFate.UNTOUCHED
    if not after:
        return PartitionFate.OFFLINE
    if partition.needed is None:
        return PartitionFate.UNKNOWN
    if len(after) < partition.needed <= len(before):
        return PartitionFate.BELOW
    return PartitionFate.MOVED if partition.leader == broker_id else PartitionFate.THINNER


def absence_of(broker_id: int, world: GuardFacts) -> Absence:
    """Return the visible effects of stopping `broker_id`."""
    others = world.away - {broker_id}
    fates: dict[PartitionFate, list[Hosted]] = {fate: [] for fate in PartitionFate}
    already, shards = 0, {GROUPS_TOPIC: 0, TRANSACTIONS_TOPIC: 0}
    for partition in world.partitions:
        if broker_id not in partition.replicas:
            continue
        fates[fate_of(partition, broker_id, others)].append(partition)
        already += _is_short(partition, others)
        if partition.topic in shards:
            shards[partition.topic] += partition.leader == broker_id
    return Absence(
        broker_id=broker_id,
        offline=tuple(fates[PartitionFate.OFFLINE]),
        below=tuple(fates[PartitionFate.BELOW]),
        unknown=tuple(fates[PartitionFate.UNKNOWN]),
        moved=len(fates[PartitionFate.MOVED]),
        thinner=len(fates[PartitionFate.THINNER]),
        already=already,
        is_controller=broker_id == world.controller_id,
        group_shards=shards[GROUPS_TOPIC],
        transaction_shards=shards[TRANSACTIONS_TOPIC],
        groups=tuple(world.groups.get(broker_id, ())),
        away=tuple(sorted(others)),
        seen_at_ms=world.seen_at_ms,
        now_ms=world.now_ms,
        error=world.error,
        is_doubtful=world.is_doubtful,
    )


def _is_short(partition: Hosted, away: frozenset[int]) -> bool:
    return len(set(partition.isr) - away) < (partition.needed or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ensemble:
    """What each ZooKeeper server last said, and when. `away`: ports of those that do not run or are asked to end."""

    now_ms: int
    seen_at_ms: int
    servers: Sequence[Mapping[str, object]]
    away: frozenset[int] = frozenset()

    @property
    def is_doubtful(self) -> bool:
        return not self.servers or self.now_ms - self.seen_at_ms > FRESH_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAbsence:
    """What it means that one ZooKeeper server is away: `left` of `voters` serve then."""

    voters: int
    left: int
    is_member: bool
    is_leader: bool
    had_quorum: bool
    is_doubtful: bool
    now_ms: int
    seen_at_ms: int

    @property
    def quorum(self) -> int:
        return self.voters // 2 + 1

    @property
    def costs_quorum(self) -> bool:
        return self.is_member and self.had_quorum and self.left < self.quorum

    @property
    def is_harmful(self) -> bool:
        return self.costs_quorum or self.is_doubtful

    @property
    def confirmed(self) -> tuple[str, ...]:
        return f"left={self.left} of {self.voters}", f"leads={self.is_leader}", f"doubtful={self.is_doubtful}"


def absence_of_server(port: int, ensemble: Ensemble) -> ServerAbsence:
    """Return the visible effects of stopping the ZooKeeper server at `port` of this host."""
    voters = [server for server in ensemble.servers if server["mode"] != "observer"]
    serving = [voter for voter in voters if not voter["error"] and _port_of(voter) not in ensemble.away - {port}]
    own = next((voter for voter in voters if _port_of(voter) == port), None)
    return ServerAbsence(
        voters=len(voters),
        left=sum(mapping is not own for mapping in serving),
        is_member=own is not None,
        is_leader=own is not None and own["mode"] in ("leader", "standalone"),
        had_quorum=len(serving) > len(voters) // 2,
        is_doubtful=ensemble.is_doubtful,
        now_ms=ensemble.now_ms,
        seen_at_ms=ensemble.seen_at_ms,
    )


def _port_of(server: Mapping[str, object]) -> int:
    return int(str(server["address"]).rpartition(":")[2])
