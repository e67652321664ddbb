"""The collector's part: settings, ACLs, quotas, groups and offsets as they are read, against what was read before.

Who changed them does not matter: the console, another tool, another console. What could not be read stays as it was,
for a cluster that refuses to tell its rules has not deleted them.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping

from console.kit.gateway.errors import RefusedError
from console.kit.gateway.interface import ClusterGateway
from console.state.clusters.store import update_state
from console.state.clusters.topic_rows import TopicRow
from console.state.consumers.rows import GroupRow
from console.state.consumers.tiers import ClusterObserver, TierContext, TierLook
from console.state.history.attribution import attribute_changes
from console.state.history.baseline import load_baseline, save_baseline
from console.state.history.configuration import (
    ALL_BROKERS,
    State,
    acl_events,
    acl_state,
    broker_settings,
    broker_settings_events,
    quota_events,
    quota_state,
    throttled_brokers,
    throttled_topics,
    topic_settings_events,
)
from console.state.history.differences import HistoryEvent
from console.state.history.flood import FloodGate
from console.state.history.models import ChangeKind
from console.state.history.offset_changes import OffsetChanges
from console.state.history.store import write_flood

logger = logging.getLogger(__name__)

#: Between two reads of brokers' settings, of ACLs and of quotas.
READ_EVERY_MS = 10_000

OwnSettings = tuple[tuple[str, str], ...]


class _Compared:
    """One kind: what was read last, and events of what is otherwise now. For one thread."""

    def __init__(self, kind: ChangeKind, events_of: Callable[[State, State], list[HistoryEvent]]):
        self.known = load_baseline(kind)
        self._kind, self._events_of = kind, events_of
        self._flood = FloodGate()

    def look(self, now: State, at_ms: int) -> None:
        before = self.known
        if before == now:
            return
        if before is not None:
            self.write(self._events_of(before, now), at_ms)
        self.known = {name: dict(values) for name, values in now.items()}
        save_baseline(self._kind, self.known)

    def write(self, events: list[HistoryEvent], at_ms: int) -> None:
        write_flood(self._flood.admit(events, at_ms), at_ms)


class ConfigurationObserver(ClusterObserver):
    """Topics' settings and groups, which other tiers read anyway; each method belongs to the thread of its tier."""

    def __init__(self, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._settings = _Compared(ChangeKind.SETTINGS, topic_settings_events)
        self._last_settings: Mapping[str, OwnSettings] = {}
        self._throttled: list[str] | None = None
        self._groups = _Compared(ChangeKind.GROUP, group_events)
        self._offsets, self._offset_flood = OffsetChanges(), FloodGate()

    def saw_topics(
        self, topics: Mapping[str, TopicRow], moved: Iterable[str], settings: Mapping[str, OwnSettings]
    ) -> None:
        """Compare topics whose settings were read anew, and forget deleted ones."""
        changed = {
            name: item
            for name, item in settings.items()
            if self._last_settings.get(name) is not item and name in topics
        }
        known = self._settings.known or {}
        if not changed and not known.keys() - topics.keys():
            return
        self._last_settings = dict(settings)
        self._save_throttled(topics, settings)
        now = {name: values for name, values in known.items() if name in topics}
        self._settings.look(now | {name: dict(item) for name, item in changed.items()}, self._now_ms())

    def _save_throttled(self, topics: Mapping[str, TopicRow], settings: Mapping[str, OwnSettings]) -> None:
        throttled = throttled_topics({name: dict(item) for name, item in settings.items() if name in topics})
        if throttled != self._throttled:
            update_state(throttled_topics=throttled)
            self._throttled = throttled

    def saw_groups(self, changed: Iterable[GroupRow], groups: Collection[str]) -> None:
        at_ms = self._now_ms()
        self._groups.look({name: {} for name in groups}, at_ms)
        events = self._offsets.look(changed, groups, at_ms)
        write_flood(self._offset_flood.admit(events, at_ms), at_ms)


def group_events(before: State, after: State) -> list[HistoryEvent]:
    began = [
        HistoryEvent(ChangeKind.GROUP, name, f"Group {name} began") for name in sorted(after.keys() - before.keys())
    ]
    gone = sorted(before.keys() - after.keys())
    return began + [
        HistoryEvent(ChangeKind.GROUP, name, f"Group {name} is gone: deleted, or expired", "warning") for name in gone
    ]


class ConfigurationCollector:
    """What no other tier reads as a whole: brokers' settings, ACLs, quotas. For one thread."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int]):
        self._gateway, self._now_ms = gateway, clock_ms
        self._brokers = _Compared(ChangeKind.BROKER_SETTINGS, broker_settings_events)
        self._acls = _Compared(ChangeKind.ACL, acl_events)
        self._quotas = _Compared(ChangeKind.QUOTA, quota_events)
        self._read_ms = -READ_EVERY_MS
        self._throttled: dict[str, int] | None = None

    def look(self) -> None:
        """Look for configuration changes.

        Raises GatewayError while no broker answers; what is refused stays as it was.
        """
        at_ms = self._now_ms()
        if at_ms - self._read_ms >= READ_EVERY_MS:
            self._read_ms = at_ms
            self._read(self._look_at_brokers, self._look_at_acls, self._look_at_quotas)
        attribute_changes(at_ms)

    def _read(self, *looks: Callable[[], None]) -> None:
        for look in looks:
            try:
                look()
            except RefusedError as error:
                logger.debug("not compared: %s", error)

    def _look_at_brokers(self) -> None:
        """Look at the brokers; one that does not answer keeps its last values, and so does the cluster-wide part while
        none answers.
        """
        now = broker_settings(self._gateway.brokers.settings())
        if ALL_BROKERS not in now:
            return
        self._brokers.look({**(self._brokers.known or {}), **now}, self._now_ms())
        throttled = throttled_brokers(now)
        if throttled != self._throttled:
            update_state(throttled_brokers=throttled)
            self._throttled = throttled

    def _look_at_acls(self) -> None:
        self._acls.look(acl_state(self._gateway.acls.look().rules), self._now_ms())

    def _look_at_quotas(self) -> None:
        self._quotas.look(quota_state(self._gateway.quotas.describe()), self._now_ms())


def observer(context: TierContext) -> ConfigurationObserver:
    return ConfigurationObserver(context.clock_ms)


def tier(context: TierContext) -> TierLook:
    return TierLook(ConfigurationCollector(context.gateway, context.clock_ms).look)
