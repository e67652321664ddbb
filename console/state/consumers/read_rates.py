"""How fast groups read each topic, from how far their commits moved. Reads without a commit are not counted,
nor is a jump over records that were deleted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from console.kit.common.databases import cluster_atomic
from console.kit.common.many_rows import update_rows
from console.kit.common.rates import RateWindow
from console.state.clusters.models import Topic
from console.state.consumers.losses import records_read
from console.state.consumers.rows import GroupRow


class ReadRates:
    """Commits that go back count nothing: a reset is no reading. Used from one thread."""

    def __init__(self) -> None:
        self._read: Counter[str] = Counter()
        self._window = RateWindow()
        self._written: dict[str, float] = {}

    def observe(self, before: Mapping[str, GroupRow], after: Iterable[GroupRow], at_ms: int) -> dict[str, float]:
        """Return records per second by topic, all groups together; `after` are the groups that changed."""
        for group in after:
            known = _committed(before.get(group.name))
            for row in group.partitions:
                if row.committed is not None:
                    before_offset = known.get((row.topic, row.partition), row.committed)
                    self._read[row.topic] += records_read(before_offset, row.committed, row.first_offset)
        rates = {topic: self._window.observe(topic, count, at_ms) for topic, count in self._read.items()}
        return {topic: rate for topic, rate in rates.items() if rate is not None}

    def store(self, rates: Mapping[str, float]) -> None:
        """Write those that are otherwise than what was written last."""
        changed = {topic: rate for topic, rate in rates.items() if self._written.get(topic) != rate}
        if changed:
            with cluster_atomic():
                update_rows(Topic, "name", "read_per_second", changed)
        self._written = dict(rates)

    def forget_all_but(self, topics: Iterable[str]) -> None:
        for gone in self._read.keys() - set(topics):
            del self._read[gone]
        self._window.forget_all_but(set(self._read))


def _committed(group: GroupRow | None) -> dict[tuple[str, int], int]:
    places = group.partitions if group is not None else ()
    return {(place.topic, place.partition): place.committed for place in places if place.committed is not None}
