"""Partitions in which readers of committed records stand still, because a transaction there does not end. Pure.

What readers of committed records may read ends at the last stable offset. While that stays where it is and the log goes
on behind it, a transaction is open there (KIP-664).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from console.cluster.producers.open_transactions import OpenTransaction, OpenTransactionState
from console.kit.gateway.groups.interface import TopicPartition

#: A partition is looked into when it has stood still for so long: most transactions take less.
STUCK_MS = 45_000
#: One that its coordinator will end is told of when it is open for longer than a client's checkpoints commonly take.
LONG_MS = 600_000
#: No coordinator knows of it, and its producer is silent for so long: a commit under way takes less.
UNCLAIMED_MS = 60_000


@dataclass(frozen=True, slots=True)
class StuckTransaction:
    """`since_ms`: its beginning, or its last write where no coordinator tells it. `waiting`: records behind it."""

    topic: str
    partition: int
    offset: int
    standing: str
    producer_id: int
    since_ms: int
    waiting: int


@dataclass(slots=True)
class StableOffsets:
    """The last stable offset at which each partition has stopped, and since when."""

    _since: dict[TopicPartition, tuple[int, int]] = field(default_factory=dict)

    def observe(
        self, ends: Mapping[TopicPartition, int], stable: Mapping[TopicPartition, int], at_ms: int
    ) -> list[TopicPartition]:
        """Return the partitions that stand still for STUCK_MS or longer, the longest first.

        `ends` were read before `stable`: a stable offset below them is one of an open transaction. Of a partition that
        is in `ends` alone nothing new is known.
        """
        for place, end in ends.items():
            if (offset := stable.get(place)) is None:
                continue
            if offset >= end:
                self._since.pop(place, None)
            elif self._since.get(place, (-1, 0))[0] != offset:
                self._since[place] = offset, at_ms
        stuck = [(since_ms, place) for place, (_, since_ms) in self._since.items() if at_ms - since_ms >= STUCK_MS]
        return [place for _, place in sorted(stuck)]

    def keep(self, known: Iterable[TopicPartition]) -> None:
        """Forget the partitions that are not `known` any more."""
        self._since = {place: self._since[place] for place in self._since.keys() & set(known)}


def stuck_transaction(topic: str, transaction: OpenTransaction, at_ms: int) -> StuckTransaction | None:
    """Return what is told of an open transaction, or None while it may be one that ends in its time."""
    open_ms = transaction.open_ms or 0
    match transaction.standing:
        case OpenTransactionState.HANGING | OpenTransactionState.OVERDUE:
            is_told = True
        case OpenTransactionState.UNCLAIMED:
            is_told = open_ms >= UNCLAIMED_MS
        case _:
            is_told = open_ms >= LONG_MS
    if not is_told:
        return None
    producer = transaction.producer
    return StuckTransaction(
        topic,
        producer.partition,
        transaction.open_from,
        transaction.standing,
        producer.producer_id,
        at_ms - open_ms,
        transaction.waiting or 0,
    )
