"""The one reader of the cluster: looks at it in tiers, writes changed rows and pushes them to the pages showing them.

Features declare the tiers (`CollectorTier`). Their intervals are those while a page is open or something is not well;
else tiers pause longer (`attention.py`).

A tier that fails keeps its last good rows and stores why; its data then grows visibly old. No exception ends the
collector, and the same error is logged once, not every second.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

from django.db import close_old_connections
from django.utils.module_loading import import_string

from console.cluster.placement.arriving import arriving_replicas
from console.kit.common.clock import now_ms
from console.kit.features.listed import features
from console.kit.gateway.connection.identity import refuse_other
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.zookeeper.four_letter_words import ZooKeeperView
from console.kit.live.idle_pace import SLOWER, IdlePace
from console.processes.queries import removed_brokers
from console.shell.collector import announce
from console.shell.collector.last_records import LastRecords
from console.signals.overview.samples import ClusterSampler
from console.state.clusters import store
from console.state.clusters.broker_rows import BrokerRow, ReplicaCounts, broker_rows
from console.state.clusters.tally import ClusterTally
from console.state.clusters.topic_looks import TopicLooks
from console.state.clusters.topic_rows import TopicChanges, compare
from console.state.consumers.tiers import TierContext, TierLook
from console.state.history.differences import HistoryEvent, broker_events, controller_events, shortened, topic_events
from console.state.history.store import write_events
from console.state.history.unclean import UncleanWatch, unclean_events

logger = logging.getLogger(__name__)

_UNFORESEEN = "The collector's look failed ({}): see its log."

#: Looks at the topics further apart say little of what happened between them.
LOOKS_APART_MS_MAX = 10_000
HEARTBEAT_INTERVAL_SECONDS = 1.0
#: Points of the rate's recent past, one per look at the topics: about three minutes.
RATE_HISTORY_POINTS = 120


class Collector(TierContext):
    """Each look is called from one thread; they touch different columns."""

    def __init__(
        self,
        gateway: ClusterGateway,
        ask_zookeeper: Callable[[], list[ZooKeeperView]],
        clock_ms: Callable[[], int] = now_ms,
        is_recovering: Callable[[str, int], bool] = lambda _topic, _partition: False,
    ):
        """`is_recovering` says whether ZooKeeper knows of a partition that its leader was elected out of sync."""
        state = store.ensure_state()
        super().__init__(gateway, clock_ms)
        self._ask_zookeeper = ask_zookeeper
        self._is_recovering, self._unclean = is_recovering, UncleanWatch()
        self._looks, self._tally = TopicLooks(), ClusterTally()
        self._pages = announce.Announcer()
        self.topics = store.load_topics()
        self._brokers = store.load_brokers()
        self._cluster_id, self._controller_id = state.cluster_id, state.controller_id
        #: Before the first look ever nothing is known, so nothing has changed.
        self._has_seen_brokers, self._has_seen_topics = bool(state.brokers_at_ms), bool(state.topics_at_ms)
        self._is_away = False
        self._replica_counts: dict[int, ReplicaCounts] = {}
        self._holding_replicas: set[int] = set()
        self._rate_history: list[float] = []
        self._sampler = ClusterSampler()
        self._last_records = LastRecords(gateway)
        self._serving: list[tuple[str, str, str]] = []
        self.attention = IdlePace()
        self.tiers = {tier.name: tier for feature in features() for tier in feature.tiers}
        self.tier_looks: dict[str, TierLook] = {
            name: import_string(tier.make)(self) for name, tier in self.tiers.items()
        }

    def look(self, name: str) -> None:
        """Run the tier of this name once."""
        if self.tier_looks[name].look():
            self.attention.pay()

    def beat(self) -> None:
        """Say that the collector lives, and how old each tier's data is."""
        store.update_state(heartbeat_at_ms=self.clock_ms())
        if self.attention.review():
            self._pages.heartbeat()

    def collect_zookeeper(self) -> None:
        views = self._ask_zookeeper()
        store.update_state(zookeeper=[asdict(view) for view in views], zookeeper_at_ms=self.clock_ms())
        serving = [(view.address, view.mode, view.error) for view in views]
        is_news, self._serving = serving != self._serving, serving
        if is_news or any(view.error for view in views):
            self.attention.pay()
        self._pages.zookeeper_changed(is_news)

    def collect_cluster(self) -> None:
        view = self.gateway.describe_cluster()
        refuse_other(self._cluster_id, view.cluster_id)
        at_ms, before = self.clock_ms(), self._brokers
        gone = before.keys() - {broker.id for broker in view.brokers}
        removed = removed_brokers() if gone else set()
        after = broker_rows(view.brokers, before, self._holding_replicas, at_ms, removed)
        changed = [row for broker_id, row in after.items() if before.get(broker_id) != row]
        forgotten = sorted(self._brokers.keys() - after.keys())
        if changed or forgotten:
            store.apply_broker_changes(changed, forgotten)
        if changed or gone or view.controller_id is None:
            self.attention.pay()
        self._note_cluster(before, after, view.controller_id, at_ms)
        for observer in self.observers:
            observer.saw_brokers(after, view.controller_id)
        is_same = not changed and not forgotten and not self._is_away
        is_news = not is_same or (self._cluster_id, self._controller_id) != (view.cluster_id, view.controller_id)
        self._is_away = False
        self._brokers, self._cluster_id, self._controller_id = after, view.cluster_id, view.controller_id
        store.update_state(
            cluster_id=view.cluster_id, controller_id=view.controller_id, brokers_at_ms=at_ms, brokers_error=""
        )
        self._pages.cluster_changed(is_news)

    def collect_topics(self) -> None:
        views = self.gateway.describe_topics()
        at_ms = self.clock_ms()
        after = self._looks.look(views, self.topics, at_ms, self.sizes, arriving_replicas())
        after |= self._last_records.found_for(after)
        changes = compare(self.topics, after)
        keys = store.apply_topic_changes(changes) if changes else {}
        if changes and self._has_seen_topics:
            write_events(shortened(self._unclean_events(changes, at_ms)) + topic_events(self.topics, changes), at_ms)
        self._has_seen_topics = True
        own_settings = {view.name: view.own_settings for view in views if view.own_settings is not None}
        for observer in self.observers:
            observer.saw_topics(after, changes.moved, own_settings)
        self.topics, self.topics_at_ms = after, at_ms
        self._tally.look(after)
        if self._tally.is_troubled:
            self.attention.pay()
        self._store_replica_counts()
        self._store_rate(at_ms)
        self._pages.topics_changed(changes, keys)

    def finish(self) -> None:
        """Finish every tier, once their threads have ended."""
        for tier in self.tier_looks.values():
            tier.finish()

    def cluster_failed(self, error: str) -> None:
        self._is_away = True
        self.attention.pay()
        store.update_state(brokers_error=error)
        self._pages.cluster_changed()

    def topics_failed(self, error: str) -> None:
        self.attention.pay()
        store.update_state(topics_error=error)
        self._pages.cluster_changed()

    def _unclean_events(self, changes: TopicChanges, at_ms: int) -> list[HistoryEvent]:
        is_next_look = at_ms - self.topics_at_ms < LOOKS_APART_MS_MAX
        elections = self._unclean.look(
            self.topics, changes, is_next_look=is_next_look, is_recovering=self._is_recovering
        )
        return unclean_events(elections)

    def _note_cluster(
        self, before: dict[int, BrokerRow], after: dict[int, BrokerRow], controller_id: int | None, at_ms: int
    ) -> None:
        if self._has_seen_brokers:
            events = broker_events(before, after) + controller_events(self._controller_id, controller_id)
            write_events(events, at_ms)
        self._has_seen_brokers = True

    def _store_replica_counts(self) -> None:
        counts = self._tally.by_broker()
        known = self._replica_counts
        changed = {
            broker_id: counts.get(broker_id, ReplicaCounts())
            for broker_id in counts.keys() | known.keys()
            if counts.get(broker_id, ReplicaCounts()) != known.get(broker_id)
        }
        if changed:
            store.apply_replica_counts(changed)
        self._holding_replicas = set(counts)
        self._replica_counts = {broker_id: item for broker_id, item in counts.items() if broker_id in self._brokers}

    def _store_rate(self, at_ms: int) -> None:
        rate = self._tally.records_per_second
        if rate is not None:
            points = 1 if self.attention.is_paid else SLOWER  # each stands for as long as the others
            self._rate_history = [*self._rate_history, *[rate] * points][-RATE_HISTORY_POINTS:]
        store.update_state(
            records_per_second=rate, rate_history=self._rate_history, topics_at_ms=at_ms, topics_error=""
        )
        self._sampler.observe(rate, self.bytes_per_second, at_ms)


def broker_tier(collector: Collector) -> TierLook:
    return TierLook(collector.collect_cluster, collector.cluster_failed)


def topic_tier(collector: Collector) -> TierLook:
    return TierLook(collector.collect_topics, collector.topics_failed)


def zookeeper_tier(collector: Collector) -> TierLook:
    return TierLook(collector.collect_zookeeper)


class CollectorThread:
    """Runs one look repeatedly on its own thread until stopped; `pause` waits between two."""

    def __init__(
        self,
        name: str,
        interval_seconds: float,
        look: Callable[[], None],
        on_error: Callable[[str], None] | None = None,
        pause: Callable[[float, threading.Event], None] | None = None,
    ):
        self.name = name
        self._pause = pause or (lambda seconds, stop: stop.wait(seconds))
        self._interval_seconds = interval_seconds
        self._look = look
        self._on_error = on_error
        self._last_error = ""

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self.run_once()
            self._pause(self._interval_seconds, stop)

    def run_once(self) -> None:
        try:
            self._look()
        except Exception as error:
            self._failed(error)
        else:
            if self._last_error:
                logger.info("%s: answers again", self.name)
            self._last_error = ""

    def _failed(self, error: Exception) -> None:
        """Note a failure. The stored text is shown to all users of the cluster: an unforeseen error may name any topic
        or group.
        """
        sentence, kind = str(error) or type(error).__name__, type(error).__name__
        shown = sentence if isinstance(error, GatewayError) else _UNFORESEEN.format(kind)
        is_news = sentence != self._last_error
        self._last_error = sentence
        if is_news:
            logger.warning("%s: %s", self.name, sentence)
        try:
            close_old_connections()
            if self._on_error:
                self._on_error(shown)
        except Exception as second:
            if is_news:
                logger.warning("%s: the error could not be stored: %s", self.name, second)


def run_collector(collector: Collector, stop: threading.Event) -> None:
    """Run every tier until `stop` is set. Returns when their threads have ended or 5 s have passed."""
    attention = collector.attention
    tiers = [
        CollectorThread(
            name, tier.interval_s, partial(collector.look, name), collector.tier_looks[name].failed, attention.pause
        )
        for name, tier in collector.tiers.items()
    ]
    threads = [threading.Thread(target=tier.run, args=(stop,), name=tier.name, daemon=True) for tier in tiers]
    for thread in threads:
        thread.start()
    CollectorThread("heartbeat", HEARTBEAT_INTERVAL_SECONDS, collector.beat, pause=attention.rest).run(stop)
    attention.pay()  # whoever pauses for long sees that it is over
    for thread in threads:
        thread.join(timeout=5)
    CollectorThread("finish", 0.0, collector.finish).run_once()
