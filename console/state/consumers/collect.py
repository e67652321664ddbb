"""The collector's look at the groups: rows written, the past of their lags kept, pages told."""

from collections.abc import Callable, Collection, Mapping

from console.kit.gateway.interface import ClusterGateway
from console.state.clusters.store import update_state
from console.state.clusters.topic_rows import TopicRow
from console.state.consumers import store
from console.state.consumers.announce import GroupAnnouncer
from console.state.consumers.read_rates import ReadRates
from console.state.consumers.rows import GroupRow, compare_groups
from console.state.consumers.tiers import TierContext, TierLook
from console.state.consumers.watch import GroupWatch

#: A point of the past at most this often, and only where the lag is another.
SAMPLE_INTERVAL_MS = 15_000
#: A lag that does not change is written again after this long, so that a chart shows that somebody looked.
SAMPLE_ANYWAY_MS = 600_000
SAMPLES_KEPT_MS = 6 * 3_600_000


class GroupCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._watch = GroupWatch(gateway, clock_ms, store.load_groups())
        self._pages = GroupAnnouncer()
        self._reading = ReadRates()
        self._sampled: dict[str, tuple[int, int | None]] = {}
        self._sampled_at_ms = 0

    def collect(self, topics: Mapping[str, TopicRow], ends_at_ms: int) -> tuple[list[GroupRow], Collection[str]]:
        """Collect the groups that changed, and the names of all. `topics` were read at `ends_at_ms`."""
        before = self._watch.rows
        after = self._watch.look(topics, ends_at_ms)
        changes = compare_groups(before, after)
        keys = store.apply_group_changes(changes) if changes else []
        self._reading.forget_all_but(topics)
        changed = changes.rows
        self._reading.store(self._reading.observe(before, changed, self._now_ms()))
        self._sample(after)
        self._pages.groups_changed(changes, keys)
        return changed, after.keys()

    def _sample(self, rows: Mapping[str, GroupRow]) -> None:
        at_ms = self._now_ms()
        self._sampled = {name: known for name, known in self._sampled.items() if name in rows}
        if at_ms - self._sampled_at_ms < SAMPLE_INTERVAL_MS:
            due = [row for name, row in rows.items() if name not in self._sampled]
        else:
            self._sampled_at_ms = at_ms
            due = [row for name, row in rows.items() if self._is_due(name, row.lag, at_ms)]
        if not due:
            return
        store.add_samples(due, at_ms)
        self._sampled.update({row.name: (at_ms, row.lag) for row in due})
        store.forget_samples(at_ms - SAMPLES_KEPT_MS)

    def _is_due(self, name: str, lag: int | None, at_ms: int) -> bool:
        sampled_at_ms, sampled = self._sampled.get(name, (0, None))
        return lag != sampled or at_ms - sampled_at_ms >= SAMPLE_ANYWAY_MS


def tier(context: TierContext) -> TierLook:
    """Return the tier, which waits for the first look at the topics: a lag is counted from the ends of their logs."""
    collector = GroupCollector(context.gateway, context.clock_ms)

    def look() -> None:
        if context.topics_at_ms:
            changed, groups = collector.collect(context.topics, context.topics_at_ms)
            for observer in context.observers:
                observer.saw_groups(changed, groups)
            update_state(groups_at_ms=context.clock_ms(), groups_error="")

    return TierLook(look, lambda error: update_state(groups_error=error))
