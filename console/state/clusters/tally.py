"""What all topics come to together, counted by those that are not as they were at the last look. Pure.

Rates are told in tenths of a record, so they are summed as whole numbers: what is added and taken away again leaves
nothing behind.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import zip_longest

from console.state.clusters.broker_rows import ReplicaCounts
from console.state.clusters.topic_rows import PartitionRow, TopicRow


class Rates:
    """A sum of which one can tell whether anything is known of it."""

    __slots__ = ("_known", "_tenths")

    def __init__(self) -> None:
        self._known = self._tenths = 0

    def count(self, rate: float, by: int) -> None:
        self._known += by
        self._tenths += by * round(10 * rate)

    @property
    def total(self) -> float | None:
        return self._tenths / 10 if self._known else None


class ClusterTally:
    """Not thread-safe: one thread uses it."""

    def __init__(self) -> None:
        self._rows: Mapping[str, TopicRow] = {}
        self._leaders, self._replicas, self._out_of_sync = Counter[int](), Counter[int](), Counter[int]()
        self._copying, self._preferred, self._preferred_led = Counter[int](), Counter[int](), Counter[int]()
        self._led_rates: dict[int, Rates] = {}
        self._rates = Rates()
        self._leaderless = 0

    def look(self, rows: Mapping[str, TopicRow]) -> None:
        before, self._rows = self._rows, rows
        for name in before.keys() - rows.keys():
            self._count_topic(before[name], -1)
        for name, row in rows.items():
            previous = before.get(name)
            if previous is row:
                continue
            if previous is not None and previous.is_internal == row.is_internal:
                self._count_difference(previous, row)
                continue
            if previous is not None:
                self._count_topic(previous, -1)
            self._count_topic(row, 1)

    @property
    def is_troubled(self) -> bool:
        """A partition has no leader, or a replica that is not in sync."""
        return self._leaderless > 0 or any(self._out_of_sync.values())

    @property
    def records_per_second(self) -> float | None:
        """Appended to all topics that are not Kafka's own; None: no rate is known yet."""
        return self._rates.total

    def by_broker(self) -> dict[int, ReplicaCounts]:
        """Return the counts of each broker named anywhere."""
        named = {item for counter in (self._leaders, self._replicas) for item, count in counter.items() if count}
        return {
            number: ReplicaCounts(
                leader_count=self._leaders[number],
                replica_count=self._replicas[number],
                out_of_sync_count=self._out_of_sync[number],
                copying_count=self._copying[number],
                preferred_count=self._preferred[number],
                preferred_led_count=self._preferred_led[number],
                records_per_second=self._led_rates[number].total if number in self._led_rates else None,
            )
            for number in named
        }

    def _count_topic(self, row: TopicRow, by: int) -> None:
        for partition in row.partitions:
            self._count_replicas(partition, by)
            self._count_rate(partition, row.is_internal, by)

    def _count_difference(self, before: TopicRow, after: TopicRow) -> None:
        for was, now in zip_longest(before.partitions, after.partitions):
            if was is now:
                continue
            is_moved = was is None or now is None or _placement(was) != _placement(now)
            for row, by in ((was, -1), (now, 1)):
                if row is not None:
                    self._count_rate(row, after.is_internal, by)
                    if is_moved:
                        self._count_replicas(row, by)

    def _count_replicas(self, row: PartitionRow, by: int) -> None:
        if row.leader is None:
            self._leaderless += by
        else:
            self._leaders[row.leader] += by
        for counter, brokers in (
            (self._replicas, row.replicas),
            (self._out_of_sync, row.out_of_sync),
            (self._copying, row.copying),
            (self._preferred, row.replicas[:1]),
            (self._preferred_led, [broker for broker in row.replicas[:1] if broker == row.leader]),
        ):
            for broker in brokers:
                counter[broker] += by

    def _count_rate(self, row: PartitionRow, is_internal: bool, by: int) -> None:
        if row.records_per_second is None:
            return
        if not is_internal:
            self._rates.count(row.records_per_second, by)
        if row.leader is not None:
            self._led_rates.setdefault(row.leader, Rates()).count(row.records_per_second, by)


def _placement(row: PartitionRow) -> tuple[object, ...]:
    return row.leader, row.replicas, row.isr, row.adding
