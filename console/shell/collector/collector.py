"""The one reader of the cluster: looks at it in tiers, writes changed rows and pushes them to the pages showing them.

The intervals below are those while somebody looks or something is not well; else tiers pause longer (`attention.py`).

A tier that fails keeps its last good rows and stores why; its data then grows visibly old. No exception ends the
collector, and the same error is logged once, not every second.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import asdict

from django.db import close_old_connections

from console.automation.healing.collect import INTERVAL_SECONDS as HEALING_INTERVAL_SECONDS
from console.automation.healing.collect import HealingWatch
from console.cluster.brokers.collect import BrokerCollector
from console.cluster.charts.collect import INTERVAL_SECONDS as CHARTS_INTERVAL_SECONDS
from console.cluster.charts.collect import ChartCollector
from console.cluster.credentials.collect import CredentialCollector
from console.cluster.footprint.ticks import tick_and_tell
from console.cluster.past.collect import PastCollector
from console.cluster.placement.arriving import arriving_replicas
from console.cluster.placement.collect import MoveWatch
from console.cluster.protections.collect import ProtectionWatch
from console.cluster.quotas.collect import QuotaCollector
from console.cluster.retention.announce import RetentionAnnouncer
from console.cluster.retention.collect import RetentionSweep
from console.cluster.schemas.collect import INTERVAL_SECONDS as SCHEMAS_INTERVAL_SECONDS
from console.cluster.schemas.collect import SchemaWatch
from console.ecosystem.completeness.collect import INTERVAL_SECONDS as COMPLETENESS_INTERVAL_SECONDS
from console.ecosystem.completeness.collect import CompletenessCollector
from console.ecosystem.connectors.collect import ConnectorCollector
from console.ecosystem.mirrors.collect import INTERVAL_SECONDS as MIRRORS_INTERVAL_SECONDS
from console.ecosystem.mirrors.collect import MirrorCollector, OtherClusters
from console.ecosystem.probe.collect import INTERVAL_SECONDS as PROBE_INTERVAL_SECONDS
from console.ecosystem.probe.collect import ProbeCollector
from console.kit.common.clock import now_ms
from console.kit.gateway.brokers.interface import ReplicaSizes
from console.kit.gateway.connect import mirror_gateways
from console.kit.gateway.connection.identity import refuse_other
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.zookeeper.four_letter_words import ZooKeeperView
from console.kit.live.attention import SLOWER, Attention
from console.processes.queries import removed_brokers
from console.shell.collector import announce
from console.shell.collector.last_records import LastRecords
from console.signals.alerts.collect import INTERVAL_SECONDS as ALERTS_INTERVAL_SECONDS
from console.signals.alerts.collect import AlertWatch
from console.signals.alerts.delivery import INTERVAL_SECONDS as DELIVERIES_INTERVAL_SECONDS
from console.signals.alerts.delivery import Deliverer
from console.signals.alerts.sources import SOURCES
from console.signals.overview.samples import ClusterSampler
from console.state.clusters import store
from console.state.clusters.broker_rows import BrokerRow, ReplicaCounts, broker_rows
from console.state.clusters.tally import ClusterTally
from console.state.clusters.topic_looks import TopicLooks
from console.state.clusters.topic_rows import TopicChanges, compare
from console.state.consumers.collect import GroupCollector
from console.state.history.differences import Event, broker_events, controller_events, shortened, topic_events
from console.state.history.store import write_events
from console.state.history.unclean import UncleanWatch, unclean_events

logger = logging.getLogger(__name__)

CLUSTER_INTERVAL_SECONDS = 1.0
TOPICS_INTERVAL_SECONDS = 1.5
GROUPS_INTERVAL_SECONDS = 2.0
MOVES_INTERVAL_SECONDS = 2.0
RETENTION_INTERVAL_SECONDS = 5.0
#: Looks at the topics further apart say little of what happened between them.
LOOKS_APART_MS_MAX = 10_000
#: Sizes are for people: nobody watches them by the second, and asking walks every log directory.
SIZES_INTERVAL_SECONDS = 10.0
#: How long requests take is told of the last minute, so it moves slowly.
REQUESTS_INTERVAL_SECONDS = 5.0
CREDENTIALS_INTERVAL_SECONDS = 10.0
#: One request for all of them; a worker that is away costs its own tier alone.
CONNECTORS_INTERVAL_SECONDS = 2.0
#: As often as brokers tell what is used of quotas, with their requests.
QUOTAS_INTERVAL_SECONDS = REQUESTS_INTERVAL_SECONDS
HEARTBEAT_INTERVAL_SECONDS = 1.0
#: Points of the rate's recent past, one per look at the topics: about three minutes.
RATE_HISTORY_POINTS = 120


class Collector:
    """Each `collect_…` is called from one thread; they touch different columns."""

    def __init__(
        self,
        gateway: ClusterGateway,
        ask_zookeeper: Callable[[], list[ZooKeeperView]],
        clock_ms: Callable[[], int] = now_ms,
        is_recovering: Callable[[str, int], bool] = lambda _topic, _partition: False,
    ):
        """`is_recovering` says whether ZooKeeper knows of a partition that its leader was elected out of sync."""
        self._gateway = gateway
        self._ask_zookeeper = ask_zookeeper
        self._now_ms = clock_ms
        self._is_recovering, self._unclean = is_recovering, UncleanWatch()
        self._looks, self._tally = TopicLooks(), ClusterTally()
        self._pages = announce.Announcer()
        self._topics = store.load_topics()
        self._topics_at_ms = 0
        self._groups = GroupCollector(gateway, clock_ms)
        self._each_broker = BrokerCollector(gateway.brokers, clock_ms)
        self._moves = MoveWatch(gateway, clock_ms)
        self._retention, self._retention_pages = RetentionSweep(gateway, clock_ms), RetentionAnnouncer()
        self._credentials, self._quotas = CredentialCollector(gateway, clock_ms), QuotaCollector(gateway, clock_ms)
        self._connectors, self._schemas = ConnectorCollector(clock_ms), SchemaWatch(gateway)
        self._charts = ChartCollector(clock_ms, SOURCES)
        self._probe, self._mirrors = ProbeCollector(clock_ms), MirrorCollector(gateway, clock_ms)
        self._mirrors_elsewhere = OtherClusters(mirror_gateways(), clock_ms)
        self._completeness = CompletenessCollector(gateway, clock_ms)
        self._alerts, self._deliverer = AlertWatch(clock_ms), Deliverer(clock_ms)
        self._healing, self._protections = HealingWatch(clock_ms), ProtectionWatch(clock_ms)
        self._brokers = store.load_brokers()
        state = store.ensure_state()
        self._cluster_id, self._controller_id = state.cluster_id, state.controller_id
        self._past = PastCollector(clock_ms, state.topics_at_ms)
        #: Before the first look ever nothing is known, so nothing has changed.
        self._has_seen_brokers, self._has_seen_topics = bool(state.brokers_at_ms), bool(state.topics_at_ms)
        self._is_away = False
        self._replica_counts: dict[int, ReplicaCounts] = {}
        self._holding_replicas: set[int] = set()
        self._rate_history: list[float] = []
        self._sampler = ClusterSampler()
        self._sizes: ReplicaSizes = {}
        self._last_records = LastRecords(gateway)
        self._serving: list[tuple[str, str, str]] = []
        self.attention = Attention()

    def beat(self) -> None:
        """Say that the collector lives, and how old each tier's data is."""
        store.update_state(heartbeat_at_ms=self._now_ms())
        if self.attention.review():
            self._pages.heartbeat()

    def collect_zookeeper(self) -> None:
        views = self._ask_zookeeper()
        store.update_state(zookeeper=[asdict(view) for view in views], zookeeper_at_ms=self._now_ms())
        serving = [(view.address, view.mode, view.error) for view in views]
        is_news, self._serving = serving != self._serving, serving
        if is_news or any(view.error for view in views):
            self.attention.pay()
        self._pages.zookeeper_changed(is_news)

    def collect_cluster(self) -> None:
        view = self._gateway.describe_cluster()
        refuse_other(self._cluster_id, view.cluster_id)
        at_ms, before = self._now_ms(), self._brokers
        gone = before.keys() - {each.id for each in view.brokers}
        removed = removed_brokers() if gone else set()
        after = broker_rows(view.brokers, before, self._holding_replicas, at_ms, removed)
        changed = [row for broker_id, row in after.items() if before.get(broker_id) != row]
        forgotten = sorted(self._brokers.keys() - after.keys())
        if changed or forgotten:
            store.apply_broker_changes(changed, forgotten)
        if changed or gone or view.controller_id is None:
            self.attention.pay()
        self._note_cluster(before, after, view.controller_id, at_ms)
        self._past.saw_brokers(after, view.controller_id)
        is_same = not changed and not forgotten and not self._is_away
        is_news = not is_same or (self._cluster_id, self._controller_id) != (view.cluster_id, view.controller_id)
        self._is_away = False
        self._brokers, self._cluster_id, self._controller_id = after, view.cluster_id, view.controller_id
        store.update_state(
            cluster_id=view.cluster_id, controller_id=view.controller_id, brokers_at_ms=at_ms, brokers_error=""
        )
        self._pages.cluster_changed(is_news)

    def collect_topics(self) -> None:
        views = self._gateway.describe_topics()
        at_ms = self._now_ms()
        after = self._looks.look(views, self._topics, at_ms, self._sizes, arriving_replicas())
        after |= self._last_records.found_for(after)
        changes = compare(self._topics, after)
        keys = store.apply_topic_changes(changes) if changes else {}
        if changes and self._has_seen_topics:
            write_events(shortened(self._unclean_events(changes, at_ms)) + topic_events(self._topics, changes), at_ms)
        self._has_seen_topics = True
        told = {view.name: view.own_settings for view in views if view.own_settings is not None}
        self._past.saw_topics(after, changes.moved, told)
        self._topics, self._topics_at_ms = after, at_ms
        self._tally.look(after)
        if self._tally.is_troubled:
            self.attention.pay()
        self._store_replica_counts()
        self._store_rate(at_ms)
        self._protections.look({row.name: row.topic_id for row in after.values()})
        self._pages.topics_changed(changes, keys)

    def collect_sizes(self) -> None:
        """Kept until the next look at the topics, which writes them."""
        self._sizes = self._each_broker.look_at_dirs(self._topics)

    def collect_requests(self) -> None:
        self._each_broker.look_at_requests()
        tick_and_tell()

    def collect_moves(self) -> None:
        if self._moves.look():
            self._pages.moves_changed()
        if self._moves.is_anything_under_way:
            self.attention.pay()

    def collect_retention(self) -> None:
        self._retention_pages.looked_at(self._retention.look())

    def collect_credentials(self) -> None:
        self._credentials.look()

    def collect_quotas(self) -> None:
        self._quotas.look()

    def collect_connectors(self) -> None:
        if self._connectors.look():
            self.attention.pay()

    def collect_schemas(self) -> None:
        self._schemas.look(self._topics.keys())

    def collect_probe(self) -> None:
        if self._probe.look():
            self.attention.pay()

    def collect_mirrors(self) -> None:
        """After the first look at the topics: those say whether there is a mirror at all."""
        if self._topics_at_ms and self._mirrors.look(self._topics.keys()):
            self.attention.pay()

    def collect_mirrors_elsewhere(self) -> None:
        if self._mirrors_elsewhere.look():
            self.attention.pay()

    def collect_completeness(self) -> None:
        """As mirrors: what is counted lies in a topic."""
        if self._topics_at_ms and self._completeness.look(self._topics.keys()):
            self.attention.pay()

    def collect_charts(self) -> None:
        """Of what the other tiers have seen."""
        self._charts.look()

    def collect_alerts(self) -> None:
        if self._alerts.look():
            self.attention.pay()

    def collect_healing(self) -> None:
        """Of what the other tiers have seen; of the cluster it asks only what a remedy would come to."""
        if self._healing.look():
            self.attention.pay()

    def deliver_alerts(self) -> None:
        self._deliverer.look()

    def finish(self) -> None:
        """When no tier runs any more."""
        self._charts.write(self._now_ms())

    def collect_groups(self) -> None:
        """After the first look at the topics: a lag is counted from the ends of their logs."""
        if self._topics_at_ms:
            self._past.saw_groups(*self._groups.collect(self._topics, self._topics_at_ms))
            store.update_state(groups_at_ms=self._now_ms(), groups_error="")

    def cluster_failed(self, error: str) -> None:
        self._is_away = True
        self.attention.pay()
        store.update_state(brokers_error=error)
        self._pages.cluster_changed()

    def topics_failed(self, error: str) -> None:
        self.attention.pay()
        store.update_state(topics_error=error)
        self._pages.cluster_changed()

    def groups_failed(self, error: str) -> None:
        store.update_state(groups_error=error)

    def _unclean_events(self, changes: TopicChanges, at_ms: int) -> list[Event]:
        is_next_look = at_ms - self._topics_at_ms < LOOKS_APART_MS_MAX
        elections = self._unclean.look(
            self._topics, changes, is_next_look=is_next_look, is_recovering=self._is_recovering
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
        self._replica_counts = {broker_id: each for broker_id, each in counts.items() if broker_id in self._brokers}

    def _store_rate(self, at_ms: int) -> None:
        rate = self._tally.records_per_second
        if rate is not None:
            points = 1 if self.attention.is_paid else SLOWER  # each stands for as long as the others
            self._rate_history = [*self._rate_history, *[rate] * points][-RATE_HISTORY_POINTS:]
        store.update_state(
            records_per_second=rate, rate_history=self._rate_history, topics_at_ms=at_ms, topics_error=""
        )
        self._sampler.observe(rate, self._each_broker.bytes_per_second, at_ms)


class Tier:
    """Runs one look again and again, on its own thread, until told to stop; `pause` is what lies between two."""

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
        sentence = str(error) or type(error).__name__
        is_news = sentence != self._last_error
        self._last_error = sentence
        if is_news:
            logger.warning("%s: %s", self.name, sentence)
        try:
            close_old_connections()
            if self._on_error:
                self._on_error(sentence)
        except Exception as second:
            if is_news:
                logger.warning("%s: the error could not be stored: %s", self.name, second)


def run_collector(collector: Collector, stop: threading.Event) -> None:
    """Run every tier until `stop` is set. Returns when their threads have ended or 5 s have passed."""
    attention = collector.attention
    tiers = [
        Tier(name, interval_seconds, look, on_error, attention.pause)
        for name, interval_seconds, look, on_error in (
            ("brokers", CLUSTER_INTERVAL_SECONDS, collector.collect_cluster, collector.cluster_failed),
            ("topics", TOPICS_INTERVAL_SECONDS, collector.collect_topics, collector.topics_failed),
            ("groups", GROUPS_INTERVAL_SECONDS, collector.collect_groups, collector.groups_failed),
            ("moves", MOVES_INTERVAL_SECONDS, collector.collect_moves, None),
            ("retention", RETENTION_INTERVAL_SECONDS, collector.collect_retention, None),
            ("zookeeper", CLUSTER_INTERVAL_SECONDS, collector.collect_zookeeper, None),
            ("sizes", SIZES_INTERVAL_SECONDS, collector.collect_sizes, None),
            ("requests", REQUESTS_INTERVAL_SECONDS, collector.collect_requests, None),
            ("users", CREDENTIALS_INTERVAL_SECONDS, collector.collect_credentials, None),
            ("quotas", QUOTAS_INTERVAL_SECONDS, collector.collect_quotas, None),
            ("connectors", CONNECTORS_INTERVAL_SECONDS, collector.collect_connectors, None),
            ("schemas", SCHEMAS_INTERVAL_SECONDS, collector.collect_schemas, None),
            ("probe", PROBE_INTERVAL_SECONDS, collector.collect_probe, None),
            ("mirrors", MIRRORS_INTERVAL_SECONDS, collector.collect_mirrors, None),
            ("mirrors elsewhere", MIRRORS_INTERVAL_SECONDS, collector.collect_mirrors_elsewhere, None),
            ("completeness", COMPLETENESS_INTERVAL_SECONDS, collector.collect_completeness, None),
            ("charts", CHARTS_INTERVAL_SECONDS, collector.collect_charts, None),
            ("alerts", ALERTS_INTERVAL_SECONDS, collector.collect_alerts, None),
            ("healing", HEALING_INTERVAL_SECONDS, collector.collect_healing, None),
            ("deliveries", DELIVERIES_INTERVAL_SECONDS, collector.deliver_alerts, None),
        )
    ]
    threads = [threading.Thread(target=tier.run, args=(stop,), name=tier.name, daemon=True) for tier in tiers]
    for thread in threads:
        thread.start()
    Tier("heartbeat", HEARTBEAT_INTERVAL_SECONDS, collector.beat, pause=attention.rest).run(stop)
    attention.pay()  # whoever pauses for long sees that it is over
    for thread in threads:
        thread.join(timeout=5)
    Tier("finish", 0.0, collector.finish).run_once()
