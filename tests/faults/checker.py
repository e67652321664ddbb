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
        self.final = [item for item in self.seen if item.reader == FINAL]
        self.at_end: dict[Place, Seen] = {
            (partition.topic, partition.partition, partition.offset): partition for partition in self.final
        }
        self.read_at_end = {record.record for record in self.final}
        self.last_of_key: dict[tuple[str, int, str | None], int] = {}
        for partition in self.final:
            place = (partition.topic, partition.partition, partition.key)
            self.last_of_key[place] = max(partition.offset, self.last_of_key.get(place, -1))

    def acknowledged(self) -> Iterator[Produced]:
        return (event for event in self.produced if event.outcome == Outcome.OK)

    def lasting(self) -> Iterator[Produced]:
        """What was acknowledged so that the faults of this run must not undo it."""
        for item in self.acknowledged():
            if item.acks in self.surviving_acks and self.policies.get(item.topic) is not Policy.UNCLEAN:
                yield item

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
        counts = Counter(f"produce {event.outcome}" for event in self.produced)
        counts.update(f"read by {item.reader}" for item in self.seen)
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
        result = evidence.at_end.get((op.topic, op.partition, op.offset))
        if result is not None and (result.record, result.digest) != (op.record, op.digest):
            yield f"I1 changed: {op.record} was acknowledged at {where}, there is {result.record}"
        if result is None and not evidence.may_be_gone(op.topic, op.partition, op.offset, op.key):
            yield f"I1 lost: {op.record} was acknowledged at {where}; asked {op.began[0]:.3f}, told {op.ended[0]:.3f}"


def _something_stays(evidence: _Evidence) -> Iterator[str]:
    """Retention never deletes the active segment, so a partition that was written to holds something."""
    written = {(op.topic, op.partition) for op in evidence.lasting()}
    held = {place[:2] for place in evidence.at_end}
    for topic, partition in sorted(written - held):
        yield f"I1 lost: {topic}-{partition} is empty"


def _seen_stays(evidence: _Evidence) -> Iterator[str]:
    for record in evidence.seen:
        place = (record.topic, record.partition, record.offset)
        if place in evidence.at_end or record.reader.startswith(("final", "files")):
            continue
        if not evidence.may_be_gone(*place, record.key):
            where = f"{record.topic}-{record.partition}@{record.offset}"
            yield f"I1 unseen again: {record.record} was read by {record.reader} at {where}"


def _failed_is_unread(evidence: _Evidence) -> Iterator[str]:
    failed = {event.record for event in evidence.produced if event.outcome == Outcome.FAILED}
    for record in evidence.seen:
        if record.record in failed:
            place = f"{record.topic}-{record.partition}@{record.offset}"
            yield f"I2: {record.record} had failed, {record.reader} read it at {place}"


def _one_record_per_offset(evidence: _Evidence) -> Iterator[str]:
    meanings: dict[Place, tuple[str, str, str]] = {}
    acknowledged = (
        ((op.topic, op.partition, op.offset), op.record, op.digest, f"acknowledged to {op.producer}")
        for op in evidence.lasting()
        if op.offset >= 0
    )
    read = (
        ((record.topic, record.partition, record.offset), record.record, record.digest, f"read by {record.reader}")
        for record in evidence.seen
        if evidence.policies.get(record.topic) is not Policy.UNCLEAN
    )
    for place, record, digest, how in (*acknowledged, *read):
        known = meanings.setdefault(place, (record, digest, how))
        if known[:2] != (record, digest):
            yield f"I3: {place[0]}-{place[1]}@{place[2]} is {known[0]} ({known[2]}) and {record} ({how})"


def _readers_go_forward(evidence: _Evidence) -> Iterator[str]:
    """Of those who follow partitions by themselves; a group may have to read again what it had not committed."""
    last: dict[tuple[str, str, int], int] = {}
    for record in evidence.seen:
        if not record.reader.startswith("live") or evidence.policies.get(record.topic) is Policy.UNCLEAN:
            continue
        stream = (record.reader, record.topic, record.partition)
        if record.offset <= last.get(stream, -1):
            place = f"{record.topic}-{record.partition}@{record.offset}"
            yield f"I3: {record.reader} was given {place} after {last[stream]}"
        last[stream] = record.offset


def _once(evidence: _Evidence) -> Iterator[str]:
    may_repeat = {record.record for record in evidence.produced if record.may_repeat}
    for record, times in Counter(record.record for record in evidence.final).items():
        if times > 1 and record not in may_repeat:
            yield f"I1 twice: {record} is there {times} times"


def _in_order(evidence: _Evidence) -> Iterator[str]:
    numbers = {record.record: record.number for record in evidence.produced if record.is_idempotent}
    by_producer: dict[tuple[str, int, str], list[tuple[int, int]]] = defaultdict(list)
    for record in evidence.final:
        if record.record in numbers:
            stream = (record.topic, record.partition, record.record.rpartition("/")[0])
            by_producer[stream].append((record.offset, numbers[record.record]))
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


def faults_in_log(path: Path, allowed: tuple[str, ...] = ()) -> list[str]:
    """I10: lines of a broker's log that tell of an unhandled exception or an error, and match none of `allowed`."""
    troubles = (line for line in path.read_text().splitlines() if _TROUBLE.search(_QUOTED.sub('""', line)))
    return [
        f"I10 {path.parent.name}: {line}"
        for line in troubles
        if not any(re.search(pattern, line) for pattern in allowed)
    ]
