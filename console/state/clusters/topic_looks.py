"""The rows of all topics, look after look, at the cost of those that are not as they were. Pure.

A topic rests when it is seen as at the last look and its rates have come down to nothing: nothing that a row is made of
can then be otherwise, so it keeps its row. What its rates have not been told meanwhile they are told when it wakes.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from console.kit.common.rates import RateWindow
from console.kit.gateway.brokers.interface import ReplicaSizes
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.interface import TopicView
from console.state.clusters.topic_rows import TopicRow, rate_key, topic_row

Arriving = Mapping[TopicPartition, frozenset[int]]


class TopicLooks:
    """Not thread-safe: one thread uses it."""

    def __init__(self) -> None:
        self._rates = RateWindow()
        self._views: dict[str, TopicView] = {}
        self._rows: dict[str, TopicRow] = {}
        #: Topics whose rates stay as they are while nothing grows, and those of them that the last look passed over.
        self._settled: set[str] = set()
        self._resting: set[str] = set()
        self._at_ms = 0
        self._sizes: ReplicaSizes = MappingProxyType({})
        self._arriving: Arriving = MappingProxyType({})

    def look(
        self,
        views: Iterable[TopicView],
        before: Mapping[str, TopicRow],
        at_ms: int,
        sizes: ReplicaSizes = MappingProxyType({}),
        arriving: Arriving = MappingProxyType({}),
    ) -> dict[str, TopicRow]:
        """Return the rows by name that follow from `before` and a new look; the same row where nothing changed.

        `sizes` come from another, rarer look, and so do the replicas that are `arriving` by a move.
        """
        seen = {view.name: view for view in views}
        resting = self._that_rest(seen, before, sizes, arriving) if at_ms >= self._at_ms else set()
        self._wake(self._resting - resting)
        rows = {
            name: self._rows[name]
            if name in resting
            else topic_row(view, before.get(name), self._rates, at_ms, sizes, arriving)
            for name, view in seen.items()
        }
        self._forget_rates(seen, resting)
        self._settled = resting | {name for name in rows.keys() - resting if self._has_settled(seen[name])}
        self._views, self._rows, self._resting = seen, rows, resting
        self._at_ms, self._sizes, self._arriving = at_ms, sizes, arriving
        return dict(rows)

    def _that_rest(
        self, seen: Mapping[str, TopicView], before: Mapping[str, TopicRow], sizes: ReplicaSizes, arriving: Arriving
    ) -> set[str]:
        """Return the rows that stay as they are; one that is not in `before` has to be computed again."""
        return {
            name
            for name in (self._settled & seen.keys()) - self._stirred(sizes, arriving)
            if self._rows[name] is before.get(name)
            and (self._views[name] is seen[name] or self._views[name] == seen[name])
        }

    def _stirred(self, sizes: ReplicaSizes, arriving: Arriving) -> set[str]:
        """Return topics with a partition whose size changed, or to which replicas are moved."""
        before = self._arriving
        names = {place[0] for place in before.keys() | arriving.keys() if before.get(place) != arriving.get(place)}
        if sizes is not self._sizes:
            names |= {place[0] for place, size in sizes.items() if self._sizes.get(place) != size}
        return names

    def _has_settled(self, view: TopicView) -> bool:
        """Return whether the topic is at rest; a silent leader's rate is unknown."""
        return all(
            partition.next_offset is None or self._rates.rests(rate_key(view, partition.partition))
            for partition in view.partitions
        )

    def _wake(self, names: Iterable[str]) -> None:
        for name in names:
            view = self._views[name]
            for partition in view.partitions:
                if partition.next_offset is not None:
                    self._rates.observe(rate_key(view, partition.partition), partition.next_offset, self._at_ms)

    def _forget_rates(self, seen: Mapping[str, TopicView], resting: set[str]) -> None:
        for name in self._views.keys() - resting:
            view = seen.get(name)
            if view is not self._views[name]:
                self._rates.forget(_rate_keys(self._views[name]) - (_rate_keys(view) if view else set()))


def _rate_keys(view: TopicView) -> set[tuple[str, str, int]]:
    return {rate_key(view, partition.partition) for partition in view.partitions}
