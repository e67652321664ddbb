"""Judges what a history says of a cluster's replicas, groups and ZooKeeper; knows nothing of how it came about.

I5  replicas hold the same bytes up to the end that the last reader saw, and leader epochs only grow along a log.
I6  a group's committed offsets never go back, an acknowledged commit is not forgotten, and nothing below a committed
    offset was left unread by the group.
I8  leader epochs and controller epochs only grow, and each has one owner.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from tests.faults.checker import FINAL, Verdict
from tests.faults.history import (
    CommitSeen,
    CommitTried,
    ControllerSeen,
    Event,
    Extent,
    Outcome,
    Policy,
    Seen,
    StateSeen,
    Stored,
    TopicDeclared,
)

Partition = tuple[str, int]
_NOBODY = -1


def check_cluster(events: Iterable[Event]) -> Verdict:
    """Who was in sync when ZooKeeper was seen last has to hold what the last reader read."""
    kept = list(events)
    verdict = Verdict(counts=_counts(kept))
    verdict.violations += _replicas_agree(kept)
    verdict.violations += _epochs_grow_along_logs(kept)
    verdict.violations += _commits_stay(kept)
    verdict.violations += _committed_was_read(kept)
    verdict.violations += _leader_epochs_grow(kept)
    verdict.violations += _controller_epochs_grow(kept)
    return verdict


def _counts(events: list[Event]) -> Counter[str]:
    counts = Counter()
    counts["batches stored"] = sum(isinstance(event, Stored) for event in events)
    counts["states seen"] = sum(isinstance(event, StateSeen) for event in events)
    counts["commits"] = sum(isinstance(event, CommitTried) for event in events)
    return counts


# -- I5


def _replicas_agree(events: list[Event]) -> Iterator[str]:
    stored: dict[Partition, dict[int, dict[int, Stored]]] = defaultdict(lambda: defaultdict(dict))
    for event in events:
        if isinstance(event, Stored):
            stored[event.topic, event.partition][event.broker][event.base_offset] = event
    in_sync = {(event.topic, event.partition): event.isr for event in events if isinstance(event, StateSeen)}
    for extent in events:
        if not isinstance(extent, Extent) or extent.reader != FINAL:
            continue
        where = f"{extent.topic}-{extent.partition}"
        holders = stored[extent.topic, extent.partition]
        wanted = sorted(in_sync.get((extent.topic, extent.partition), ()))
        if extent.end > extent.start and sorted(holders) != wanted:
            yield f"I5: {where} is held by {sorted(holders)}, {wanted} are in sync"
        for one, other in pairwise(sorted(holders)):
            yield from _same_below(where, extent.end, one, holders[one], other, holders[other])


def _same_below(
    where: str, end: int, one: int, ours: dict[int, Stored], other: int, theirs: dict[int, Stored]
) -> Iterator[str]:
    """The first difference; what comes behind it differs as well."""
    for offset in sorted(ours.keys() | theirs.keys()):
        if offset >= end:
            return
        left, right = ours.get(offset), theirs.get(offset)
        if left is None or right is None or (left.last_offset, left.digest) != (right.last_offset, right.digest):
            yield f"I5: {where}@{offset} is {_text(left)} on broker {one}, {_text(right)} on broker {other}; end {end}"
            return


def _text(batch: Stored | None) -> str:
    return f"{batch.digest} to {batch.last_offset} of epoch {batch.leader_epoch}" if batch else "not there"


def _epochs_grow_along_logs(events: list[Event]) -> Iterator[str]:
    last: dict[tuple[int, str, int], Stored] = {}
    for event in events:
        if isinstance(event, Stored):
            before = last.get((event.broker, event.topic, event.partition))
            if before is not None and event.leader_epoch < before.leader_epoch:
                where = f"{event.topic}-{event.partition}@{event.base_offset}"
                yield f"I5: epoch {event.leader_epoch} behind {before.leader_epoch} at {where} on broker {event.broker}"
            last[event.broker, event.topic, event.partition] = event


# -- I6


def _commits_stay(events: list[Event]) -> Iterator[str]:
    """In real time: what began after an acknowledgement knows of it."""
    commits: dict[tuple[str, str, int], list[tuple[float, float, int, str]]] = defaultdict(list)
    for event in events:
        if isinstance(event, CommitTried) and event.outcome == Outcome.OK:
            place = (event.group, event.topic, event.partition)
            commits[place].append((event.began[1], event.ended[1], event.offset, f"commit of {event.member}"))
        elif isinstance(event, CommitSeen):
            place = (event.group, event.topic, event.partition)
            commits[place].append((event.began[1], event.ended[1], event.offset, "asked from outside"))
    for (group, topic, partition), facts in commits.items():
        yield from _gone_back(f"{group} {topic}-{partition}", facts)


def _gone_back(where: str, facts: list[tuple[float, float, int, str]]) -> Iterator[str]:
    by_end = sorted(facts, key=lambda fact: fact[1])
    highest, taken = (-1, ""), 0
    for began, ended, offset, how in sorted(facts):
        while taken < len(by_end) and by_end[taken][1] < began:
            highest = max(highest, (by_end[taken][2], by_end[taken][3]))
            taken += 1
        if offset < highest[0]:
            yield f"I6: {where} went back to {offset} ({how}, ended {ended:.3f}) after {highest[0]} ({highest[1]})"


def _committed_was_read(events: list[Event]) -> Iterator[str]:
    read: dict[tuple[str, str, int], set[int]] = defaultdict(set)
    for event in events:
        if isinstance(event, Seen):
            read[event.reader.partition("/")[0], event.topic, event.partition].add(event.offset)
    unclean = {event.topic for event in events if isinstance(event, TopicDeclared) and event.policy == Policy.UNCLEAN}
    committed: dict[tuple[str, str, int], int] = {}
    for event in events:
        if isinstance(event, CommitSeen) and event.topic not in unclean:
            place = (event.group, event.topic, event.partition)
            committed[place] = max(event.offset, committed.get(place, -1))
    for place, offset in committed.items():
        there = {at for at in read[FINAL, place[1], place[2]] if at < offset}
        unread = sorted(there - read[place])
        if unread:
            yield f"I6: {place[0]} committed {offset} of {place[1]}-{place[2]} and never read {unread[:5]}"


# -- I8


def _leader_epochs_grow(events: list[Event]) -> Iterator[str]:
    last: dict[Partition, StateSeen] = {}
    leaders: dict[tuple[str, int, int], int] = {}
    for event in events:
        if not isinstance(event, StateSeen):
            continue
        where = f"{event.topic}-{event.partition}"
        before = last.get((event.topic, event.partition))
        if before is not None and event.zk_version <= before.zk_version:
            continue
        if before is not None and _epochs(event) != tuple(map(max, _epochs(before), _epochs(event))):
            yield f"I8: {where} went from (leader, controller) epoch {_epochs(before)} to {_epochs(event)}"
        last[event.topic, event.partition] = event
        owner = leaders.setdefault((event.topic, event.partition, event.leader_epoch), event.leader)
        if owner != event.leader:
            yield f"I8: epoch {event.leader_epoch} of {where} had the leaders {owner} and {event.leader}"


def _epochs(state: StateSeen) -> tuple[int, int]:
    return state.leader_epoch, state.controller_epoch


def _controller_epochs_grow(events: list[Event]) -> Iterator[str]:
    last, owners = -1, {}
    for event in events:
        if not isinstance(event, ControllerSeen):
            continue
        if event.epoch < last:
            yield f"I8: the controller epoch went from {last} to {event.epoch}"
        last = max(last, event.epoch)
        if event.broker != _NOBODY and owners.setdefault(event.epoch, event.broker) != event.broker:
            yield f"I8: epoch {event.epoch} had the controllers {owners[event.epoch]} and {event.broker}"
