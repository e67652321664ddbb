"""Write the changes that the collector's other tiers have seen to the timeline."""

from collections.abc import Callable, Collection, Iterable, Mapping

from console.cluster.past import store
from console.cluster.past.models import TimelineKind
from console.cluster.past.states import GroupThen, Packed, broker_then, group_then, pack_settings, topic_then
from console.state.clusters.broker_rows import BrokerRow
from console.state.clusters.queries import cluster_state
from console.state.clusters.topic_rows import TopicRow
from console.state.consumers.rows import GroupRow
from console.state.consumers.tiers import ClusterObserver, TierContext

#: Two looks farther apart than this have a time between them of which nobody knows.
UNSEEN_AFTER_MS = 30_000
_FORGET_EVERY_MS = 600_000

#: (name, value) of those that are a topic's own.
OwnSettings = tuple[tuple[str, str], ...]


class PastCollector(ClusterObserver):
    """Each method belongs to the thread of its tier: no two of them write the same kind."""

    def __init__(self, clock_ms: Callable[[], int], looked_at_ms: int):
        """`looked_at_ms`: when topics were looked at last, by whoever; 0: never."""
        self._now_ms = clock_ms
        self._known: dict[str, dict[str, int]] = {kind: store.load_now(kind) for kind in TimelineKind}
        self._settings_seen: dict[str, OwnSettings] = {}
        #: As they were written last: nearly all that changes of a group is its offsets, and packing costs.
        self._groups: dict[str, GroupThen] = {}
        self._brokers: dict[int, BrokerRow] = {}
        self._looked_at_ms = looked_at_ms
        self._forgot_ms = 0

    def saw_topics(
        self, topics: Mapping[str, TopicRow], moved: Iterable[str], settings: Mapping[str, OwnSettings]
    ) -> None:
        at_ms = self._now_ms()
        self._note_gap(at_ms)
        due = {*moved, *(topics.keys() - self._known[TimelineKind.TOPIC].keys())} & topics.keys()
        states = {name: topic_then(topics[name]) for name in due}
        counts = {name: item.counts for name, item in states.items()}
        self._write(TimelineKind.TOPIC, {name: item.pack() for name, item in states.items()}, topics, at_ms, counts)
        changed = {
            name: item
            for name, item in settings.items()
            if self._settings_seen.get(name) is not item and name in topics
        }
        self._settings_seen = dict(settings)
        self._write(TimelineKind.SETTINGS, {name: pack_settings(item) for name, item in changed.items()}, topics, at_ms)
        if at_ms - self._forgot_ms >= _FORGET_EVERY_MS:
            self._forgot_ms = at_ms
            store.forget(at_ms)

    def saw_groups(self, changed: Iterable[GroupRow], groups: Collection[str]) -> None:
        states = ((row.name, group_then(row)) for row in changed)
        others = {name: then for name, then in states if self._groups.get(name) != then}
        self._write(TimelineKind.GROUP, {name: then.pack() for name, then in others.items()}, groups, self._now_ms())
        self._groups.update(others)
        for gone in self._groups.keys() - groups:
            del self._groups[gone]

    def saw_brokers(self, brokers: Mapping[int, BrokerRow], controller_id: int | None) -> None:
        at_ms, there = self._now_ms(), {str(broker_id) for broker_id in brokers}
        others = {item: row for item, row in brokers.items() if self._brokers.get(item) != row}
        states = {str(broker_id): broker_then(row).pack() for broker_id, row in others.items()}
        self._write(TimelineKind.BROKER, states, there, at_ms)
        self._brokers = dict(brokers)
        controllers = {} if controller_id is None else {str(controller_id): b""}
        self._write(TimelineKind.CONTROLLER, controllers, controllers, at_ms)

    def _note_gap(self, at_ms: int) -> None:
        if not self._looked_at_ms:
            store.note_unobserved(0, at_ms)
        elif at_ms - self._looked_at_ms > UNSEEN_AFTER_MS:
            store.note_unobserved(self._looked_at_ms, at_ms)
        self._looked_at_ms = at_ms

    def _write(
        self,
        kind: TimelineKind,
        states: Mapping[str, Packed],
        there: Collection[str],
        at_ms: int,
        counts: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        known = self._known[kind]
        now = {name: packed for name, packed in states.items() if known.get(name) != hash(packed)}
        gone = [name for name in known if name not in there]
        if now or gone:
            store.write(store.News(kind, now, counts or {}, gone), at_ms)
        known.update({name: hash(packed) for name, packed in now.items()})
        for name in gone:
            del known[name]


def observer(context: TierContext) -> PastCollector:
    return PastCollector(context.clock_ms, cluster_state().topics_at_ms)
