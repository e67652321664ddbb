"""Judges a history; knows nothing of how it came about.

I1  every acknowledged record is read at the end exactly where it was acknowledged, with the same bytes, unless its
    topic's policy removes it; an idempotent producer's exactly once. What any reader saw stays, too.
I2  no record that certainly failed is read.
I3  an offset of a partition means one record: for every acknowledgement that lasts, every reader, every replica's
    files; and who reads on sees each offset once.
I4  an idempotent producer's records are in the order it sent them, partition by partition.
I10 is about the broker's own log: `faults_in_log`.

An operation of unknown outcome may have been written or not.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.faults.history import Event, Extent, Outcome, Policy, Produced, Seen, TopicDeclared

FINAL = "final"
_SHOWN_MAX = 20
Place = tuple[str, int, int]

#: What a client said stands in quotes, whatever it says.
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_TROUBLE = re.compile(r"Traceback|level=(error|critical)|exception=")


@dataclass
class Verdict:
    """`violations` is empty when every invariant holds; `counts` says how much that was checked on."""

    violations: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        shown = self.violations[:_SHOWN_MAX]
        more = len(self.violations) - len(shown)
        facts = ", ".join(f"{name} {count:,}" for name, count in sorted(self.counts.items()))
        return "\n".join([facts, *shown, *([f"… and {more} more"] if more else [])])


def check(events: Iterable[Event], surviving_acks: tuple[str, ...] = ("all",)) -> Verdict:
    """`surviving_acks`: acknowledgements that the faults of this run must not undo; ("all", "1") for one replica."""
    evidence = _Evidence(events, surviving_acks)
    verdict = Verdict(counts=evidence.counts())
    for invariant in _INVARIANTS:
        verdict.violations += invariant(evidence)
    return verdict


class _Evidence:
    """The history, arranged for questions."""

    def __init__(self, events: Iterable[Event], surviving_acks: tuple[str, ...]):
        self.surviving_acks = surviving_acks
        self.policies: dict[str, Policy] = {}
        self.produced: list[Produced] = []
        self.seen: list[Seen] = []
        self.starts: dict[tuple[str, int], int] = {}
        for event in events:
            if isinstance(event, TopicDeclared):
                self.policies[event.topic] = Policy(event.policy)
            elif isinstance(event, Produced):
                self.produced.append(event)
            elif isinstance(event, Seen):
                self.seen.append(event)
            elif isinstance(event, Extent) and event.reader.startswith(FINAL):
                self.starts[event.topic, event.partition] = event.start
        self.final = [each for each in self.seen if each.reader == FINAL]
        self.at_end: dict[Place, Seen] = {(each.topic, each.partition, each.offset): each for each in self.final}
        self.read_at_end = {each.record for each in self.final}
        self.last_of_key: dict[tuple[str, int, str | None], int] = {}
        for each in self.final:
            place = (each.topic, each.partition, each.key)
            self.last_of_key[place] = max(each.offset, self.last_of_key.get(place, -1))

    def acknowledged(self) -> Iterator[Produced]:
        return (each for each in self.produced if each.outcome == Outcome.OK)

    def lasting(self) -> Iterator[Produced]:
        """What was acknowledged so that the faults of this run must not undo it."""
        for each in self.acknowledged():
            if each.acks in self.surviving_acks and self.policies.get(each.topic) is not Policy.UNCLEAN:
                yield each

    def may_be_gone(self, topic: str, partition: int, offset: int, key: str | None) -> bool:
        policy = self.policies.get(topic, Policy.KEEP)
        if policy is Policy.RETAIN:
            return offset < self.starts[topic, partition]
        if policy is Policy.UNCLEAN:
            return True
        if policy is Policy.COMPACT:
            return self.last_of_key.get((topic, partition, key), -1) > offset
        return False

    def counts(self) -> Counter[str]:
        counts = Counter(f"produce {each.outcome}" for each in self.produced)
        counts.update(f"read by {each.reader}" for each in self.seen)
        counts["acknowledged and in place"] = sum(
            (op.topic, op.partition, op.offset) in self.at_end for op in self.acknowledged()
        )
        return counts


def _acknowledged_stays(evidence: _Evidence) -> Iterator[str]:
    for op in evidence.lasting():
        if op.offset < 0:
            if op.record not in evidence.read_at_end:
                yield f"I1 lost: {op.record} was acknowledged in {op.topic}-{op.partition}, nobody said where"
            continue
        where = f"{op.topic}-{op.partition}@{op.offset}"
        found = evidence.at_end.get((op.topic, op.partition, op.offset))
        if found is not None and (found.record, found.digest) != (op.record, op.digest):
            yield f"I1 changed: {op.record} was acknowledged at {where}, there is {found.record}"
        if found is None and not evidence.may_be_gone(op.topic, op.partition, op.offset, op.key):
            yield f"I1 lost: {op.record} was acknowledged at {where}; asked {op.began[0]:.3f}, told {op.ended[0]:.3f}"


def _something_stays(evidence: _Evidence) -> Iterator[str]:
    """Retention never deletes the active segment, so a partition that was written to holds something."""
    written = {(op.topic, op.partition) for op in evidence.lasting()}
    held = {place[:2] for place in evidence.at_end}
    for topic, partition in sorted(written - held):
        yield f"I1 lost: {topic}-{partition} is empty"


def _seen_stays(evidence: _Evidence) -> Iterator[str]:
    for each in evidence.seen:
        place = (each.topic, each.partition, each.offset)
        if place in evidence.at_end or each.reader.startswith(("final", "files")):
            continue
        if not evidence.may_be_gone(*place, each.key):
            where = f"{each.topic}-{each.partition}@{each.offset}"
            yield f"I1 unseen again: {each.record} was read by {each.reader} at {where}"


def _failed_is_unread(evidence: _Evidence) -> Iterator[str]:
    failed = {each.record for each in evidence.produced if each.outcome == Outcome.FAILED}
    for each in evidence.seen:
        if each.record in failed:
            yield f"I2: {each.record} had failed, {each.reader} read it at {each.topic}-{each.partition}@{each.offset}"


def _one_record_per_offset(evidence: _Evidence) -> Iterator[str]:
    meanings: dict[Place, tuple[str, str, str]] = {}
    acknowledged = (
        ((op.topic, op.partition, op.offset), op.record, op.digest, f"acknowledged to {op.producer}")
        for op in evidence.lasting()
        if op.offset >= 0
    )
    read = (
        ((each.topic, each.partition, each.offset), each.record, each.digest, f"read by {each.reader}")
        for each in evidence.seen
        if evidence.policies.get(each.topic) is not Policy.UNCLEAN
    )
    for place, record, digest, how in (*acknowledged, *read):
        known = meanings.setdefault(place, (record, digest, how))
        if known[:2] != (record, digest):
            yield f"I3: {place[0]}-{place[1]}@{place[2]} is {known[0]} ({known[2]}) and {record} ({how})"


def _readers_go_forward(evidence: _Evidence) -> Iterator[str]:
    """Of those who follow partitions by themselves; a group may have to read again what it had not committed."""
    last: dict[tuple[str, str, int], int] = {}
    for each in evidence.seen:
        if not each.reader.startswith("live") or evidence.policies.get(each.topic) is Policy.UNCLEAN:
            continue
        stream = (each.reader, each.topic, each.partition)
        if each.offset <= last.get(stream, -1):
            yield f"I3: {each.reader} was given {each.topic}-{each.partition}@{each.offset} after {last[stream]}"
        last[stream] = each.offset


def _once(evidence: _Evidence) -> Iterator[str]:
    may_repeat = {each.record for each in evidence.produced if each.may_repeat}
    for record, times in Counter(each.record for each in evidence.final).items():
        if times > 1 and record not in may_repeat:
            yield f"I1 twice: {record} is there {times} times"


def _in_order(evidence: _Evidence) -> Iterator[str]:
    numbers = {each.record: each.number for each in evidence.produced if each.is_idempotent}
    by_producer: dict[tuple[str, int, str], list[tuple[int, int]]] = defaultdict(list)
    for each in evidence.final:
        if each.record in numbers:
            stream = (each.topic, each.partition, each.record.rpartition("/")[0])
            by_producer[stream].append((each.offset, numbers[each.record]))
    for (topic, partition, producer), placed in by_producer.items():
        placed.sort()
        for (_, before), (offset, number) in pairwise(placed):
            if number < before:
                yield f"I4: {producer} sent {number} before {before}, but {topic}-{partition}@{offset} comes after it"


_INVARIANTS = (
    _acknowledged_stays,
    _something_stays,
    _seen_stays,
    _failed_is_unread,
    _one_record_per_offset,
    _readers_go_forward,
    _once,
    _in_order,
)


def faults_in_log(path: Path, told: tuple[str, ...] = ()) -> list[str]:
    """I10: lines of a broker's log that tell of an unhandled exception or an error, and match none of `told`."""
    troubles = (line for line in path.read_text().splitlines() if _TROUBLE.search(_QUOTED.sub('""', line)))
    return [
        f"I10 {path.parent.name}: {line}" for line in troubles if not any(re.search(pattern, line) for pattern in told)
    ]
