"""Who is to own which partition: the assignors `uniform` and `range` of KIP-848.

An assignor is a function of the members and of the number of partitions of each topic. It gives every partition that
at least one member is subscribed to, to exactly one of its subscribers.

`uniform` balances the number of partitions and takes from a member only what it has too much of. `range` gives each
member the same neighbouring partitions of every topic, so that topics with as many partitions are co-partitioned.
Neither looks at racks, as those of Kafka since 4.0.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heapreplace, nlargest
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

#: Of each topic, indexes of its partitions.
Partitions = Mapping[UUID, frozenset[int]]
NO_PARTITIONS: Partitions = {}


class AssignableMember(NamedTuple):
    """What an assignor knows of a member."""

    member_id: str
    instance_id: str | None
    topic_ids: frozenset[UUID]  #: that it is subscribed to and that exist
    target: Partitions  #: of the assignment before


Assignor = Callable[[Sequence[AssignableMember], Mapping[UUID, int]], dict[str, Partitions]]
_Load = dict[UUID, set[int]]


def assign_range(members: Sequence[AssignableMember], partition_counts: Mapping[UUID, int]) -> dict[str, Partitions]:
    """Return what each member is to own; static members come first, in the order of their names."""
    in_order = sorted(members, key=lambda member: (member.instance_id is None, member.instance_id or member.member_id))
    subscribers: dict[UUID, int] = defaultdict(int)
    for member in members:
        for topic_id in member.topic_ids:
            subscribers[topic_id] += 1
    next_index: dict[UUID, int] = defaultdict(int)  #: of each topic, the subscriber that is given its range next
    assigned: dict[str, Partitions] = {}
    for member in in_order:
        ranges = {}
        for topic_id in member.topic_ids:
            size, extra = divmod(partition_counts[topic_id], subscribers[topic_id])
            index = next_index[topic_id]
            next_index[topic_id] += 1
            first = index * size + min(index, extra)
            if length := size + (index < extra):
                ranges[topic_id] = frozenset(range(first, first + length))
        assigned[member.member_id] = ranges
    return assigned


def assign_uniform(members: Sequence[AssignableMember], partition_counts: Mapping[UUID, int]) -> dict[str, Partitions]:
    """Return what each member is to own: counts differ by one at most if all are subscribed to the same topics."""
    if not members:
        return {}
    kept, free = _kept(members, partition_counts)
    if all(member.topic_ids == members[0].topic_ids for member in members):
        _fill_evenly(kept, free)
    else:
        _fill_by_subscription(members, kept, free)
    return {
        member_id: {topic_id: frozenset(indexes) for topic_id, indexes in load.items() if indexes}
        for member_id, load in kept.items()
    }


def _kept(
    members: Sequence[AssignableMember], partition_counts: Mapping[UUID, int]
) -> tuple[dict[str, _Load], dict[UUID, list[int]]]:
    """Return what members still may have of what they were to own, and the partitions that nobody has."""
    free = {
        topic_id: set(range(partition_counts[topic_id]))
        for topic_id in sorted(frozenset().union(*(member.topic_ids for member in members)))
    }
    kept: dict[str, _Load] = {}
    for member in members:
        load = kept[member.member_id] = {}
        for topic_id, indexes in member.target.items():
            if topic_id in member.topic_ids and (still_free := free[topic_id]):
                load[topic_id] = still_free & indexes
                still_free -= indexes
    return kept, {topic_id: sorted(indexes) for topic_id, indexes in free.items()}


def _fill_evenly(kept: dict[str, _Load], free: dict[UUID, list[int]]) -> None:
    """Every member may own everything: take what is above the quota, and hand it out with what is free."""
    counts = {member_id: _count(load) for member_id, load in kept.items()}
    quota, extra = divmod(sum(counts.values()) + sum(map(len, free.values())), len(kept))
    # Members that have the most keep one more.
    by_count = sorted(counts, key=lambda member_id: -counts[member_id])
    quotas = {member_id: quota + (place < extra) for place, member_id in enumerate(by_count)}
    pool = [(topic_id, index) for topic_id, indexes in free.items() for index in indexes]
    for member_id, load in kept.items():
        pool += _taken(load, counts[member_id] - quotas[member_id])
    for member_id, load in kept.items():
        for _ in range(quotas[member_id] - counts[member_id]):
            topic_id, index = pool.pop()
            load.setdefault(topic_id, set()).add(index)


def _taken(load: _Load, count: int) -> list[tuple[UUID, int]]:
    """Take so many partitions from the member, those with the highest indexes, so that every topic loses some."""
    if count <= 0:
        return []
    owned = [(topic_id, index) for topic_id, indexes in load.items() for index in indexes]
    taken = nlargest(count, owned, key=itemgetter(1))
    for topic_id, index in taken:
        load[topic_id].remove(index)
    return taken


def _fill_by_subscription(
    members: Sequence[AssignableMember], kept: dict[str, _Load], free: dict[UUID, list[int]]
) -> None:
    """Members are subscribed to different topics: give each free partition to the subscriber with the fewest, then
    move partitions from subscribers with more to such with at least two fewer, until there are none.
    """
    counts = {member_id: _count(load) for member_id, load in kept.items()}
    subscribers: dict[UUID, list[str]] = defaultdict(list)
    for member in members:
        for topic_id in member.topic_ids:
            subscribers[topic_id].append(member.member_id)
    for topic_id in sorted(free, key=lambda topic_id: (len(subscribers[topic_id]), topic_id)):
        heap = [(counts[member_id], member_id) for member_id in subscribers[topic_id]]
        heapify(heap)
        for index in free[topic_id]:
            member_id = heap[0][1]
            kept[member_id].setdefault(topic_id, set()).add(index)
            counts[member_id] += 1
            heapreplace(heap, (counts[member_id], member_id))
    is_changed = True
    while is_changed:
        is_changed = False
        for topic_id, member_ids in subscribers.items():
            is_changed |= _level(topic_id, member_ids, kept, counts)


def _level(topic_id: UUID, member_ids: list[str], kept: dict[str, _Load], counts: dict[str, int]) -> bool:
    """Move partitions of one topic; return whether any was moved. Each move makes the sum of squares smaller."""
    is_changed = False
    while True:
        fewest = min(member_ids, key=counts.__getitem__)
        owners = [member_id for member_id in member_ids if kept[member_id].get(topic_id)]
        most = max(owners, key=counts.__getitem__, default=fewest)
        if counts[most] - counts[fewest] < 2:
            return is_changed
        index = max(kept[most][topic_id])
        kept[most][topic_id].remove(index)
        kept[fewest].setdefault(topic_id, set()).add(index)
        counts[most] -= 1
        counts[fewest] += 1
        is_changed = True


def _count(load: Mapping[UUID, set[int]]) -> int:
    return sum(map(len, load.values()))


#: By the name that members ask for.
ASSIGNORS: Mapping[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}
