"""What transactions wrote and read, and what must hold of it (Adya's anomalies, as Elle looks for them).

Every value is written once, by one transaction, and stands at one offset, so the order of all writes to a partition is
known. Checked: a value whose transaction was aborted, or that nobody asked to commit, is never read (G1a); of a
transaction all is there in the end or nothing (G1b), all if its commit was acknowledged; no transaction read from one
that, by reads and by the order of its own producer, comes after it (G1c). Transactions of one producer are written one
after the other in every partition (what is left of G0: Kafka lets transactions of different producers interleave, in
different orders in different partitions, by design).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from broker.common.types import TopicPartition
from tests.simulation.history import History

#: What its producer knows of how a transaction ended. UNKNOWN: a commit was asked for, and nobody said what came of it.
OPEN, COMMITTED, ABORTED, UNKNOWN = "open", "committed", "aborted", "unknown"


@dataclass
class Transacted:
    """One transaction."""

    producer: str
    number: int
    #: Partition and value, in the order they were sent in.
    writes: list[tuple[TopicPartition, str]] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    outcome: str = OPEN

    def __str__(self) -> str:
        return f"{self.producer}:{self.number} ({self.outcome})"


class Transactions:
    """All of a run; producers and readers of committed records feed it."""

    def __init__(self, history: History):
        self._history = history
        self.all: list[Transacted] = []
        self._writer: dict[str, Transacted] = {}
        self._seen: dict[str, str] = {}

    def begin(self, producer: str) -> Transacted:
        number = sum(transaction.producer == producer for transaction in self.all)
        self.all.append(Transacted(producer, number))
        return self.all[-1]

    def write(self, transacted: Transacted, where: TopicPartition, value: str) -> None:
        transacted.writes.append((where, value))
        self._writer[value] = transacted

    def see(self, reader: str, value: str) -> None:
        """A reader of committed records was shown it."""
        self._seen.setdefault(value, reader)
        writer = self._writer.get(value)
        if writer is not None and writer.outcome in (OPEN, ABORTED):
            self._history.violate(f"G1a: {reader} reads {value} of {writer} as committed")

    def check(self, committed: dict[TopicPartition, list[str]]) -> None:
        """`committed`: what a reader of committed records finds in the end, in the order of the logs."""
        there = {value for values in committed.values() for value in values}
        for item in self.all:
            self._check_whole(item, there)
        self._check_order(committed)
        for cycle in _cycles(self._edges()):
            self._history.violate(f"G1c: {' reads from or follows '.join(map(str, cycle))}")

    def _check_whole(self, transacted: Transacted, there: set[str]) -> None:
        values = {value for _, value in transacted.writes}
        missing = values - there
        if transacted.outcome in (OPEN, ABORTED) and missing != values:
            self._history.violate(f"G1a: {sorted(values - missing)} of {transacted} are committed")
        if transacted.outcome == COMMITTED and missing:
            self._history.violate(f"{sorted(missing)} of {transacted} are missing, though its commit was acknowledged")
        if transacted.outcome == UNKNOWN and missing and missing != values:
            self._history.violate(f"G1b: of {transacted} {sorted(missing)} are missing, the rest is there")
        for value in sorted(missing & self._seen.keys()):
            self._history.violate(f"{self._seen[value]} read {value} of {transacted} as committed, and it is not")

    def _check_order(self, committed: dict[TopicPartition, list[str]]) -> None:
        for where, values in committed.items():
            last: dict[str, int] = {}
            for writer in (self._writer[value] for value in values if value in self._writer):
                if writer.number < last.get(writer.producer, 0):
                    self._history.violate(f"G0: {writer} stands in {where} behind {last[writer.producer]}")
                last[writer.producer] = writer.number

    def _edges(self) -> dict[int, set[int]]:
        """Of each transaction, by its place in `all`: those it read from, and the one before it."""
        place = {id(item): at for at, item in enumerate(self.all)}
        edges: dict[int, set[int]] = {}
        before: dict[str, int] = {}
        for at, transaction in enumerate(self.all):
            if transaction.outcome in (OPEN, ABORTED):
                continue
            results = {place[id(self._writer[value])] for value in transaction.reads if value in self._writer}
            if transaction.producer in before:
                results.add(before[transaction.producer])
            edges[at] = results - {at}
            before[transaction.producer] = at
        return edges

    def interleaved(self, committed: dict[TopicPartition, list[str]]) -> int:
        """How many pairs of transactions stand in different orders in two partitions, as Kafka allows."""
        orders: dict[tuple[int, int], set[bool]] = {}
        place = {id(item): at for at, item in enumerate(self.all)}
        for values in committed.values():
            first: dict[int, int] = {}
            for at, value in enumerate(values):
                if value in self._writer:
                    first.setdefault(place[id(self._writer[value])], at)
            named = sorted(first)
            for index, one in enumerate(named):
                for other in named[index + 1 : index + 30]:
                    orders.setdefault((one, other), set()).add(first[one] < first[other])
        return sum(len(order) > 1 for order in orders.values())


def _cycles(edges: dict[int, set[int]]) -> Iterable[list[int]]:
    """The first cycle met from each transaction that is in one; none if there are none."""
    done: set[int] = set()
    for start in edges:
        path: list[int] = []
        stack = [(start, iter(sorted(edges[start])))]
        if start in done:
            continue
        path.append(start)
        while stack:
            at, following = stack[-1]
            step = next((item for item in following if item in edges and item not in done), None)
            if step is None:
                done.add(at)
                path.pop()
                stack.pop()
            elif step in path:
                yield [*path[path.index(step) :], step]
                return
            else:
                path.append(step)
                stack.append((step, iter(sorted(edges[step]))))
