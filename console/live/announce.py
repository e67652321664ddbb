"""What the collector pushes, and to whom: a partial goes out only if it reads differently from what went out before."""

import threading

from django.template.loader import render_to_string

from console.brokers.models import Broker
from console.clusters.charts import SPANS, overview_charts
from console.clusters.queries import cluster_state, overview_facts
from console.clusters.samples import newest_sample_ms
from console.live import groups
from console.live.clock import now_ms
from console.live.push import send_now
from console.live.rows import TopicChanges
from console.placement.queries import matrix_rows, moves_facts, placement_facts
from console.topics.models import Partition, Topic
from console.topics.queries import with_groups
from console.zookeeper.queries import ensemble_facts

#: With more changed topics than this at once, the list is told to fetch its own page instead of getting every row.
ROWS_PER_PUSH_MAX = 200
OVERVIEW_PARTIALS = (
    "health",
    "tiles",
    "troubled-partitions",
    "broker-strip",
    "processes",
    "busiest-topics",
    "zookeeper-servers",
    "recent-changes",
)


class Announcer:
    """Thread-safe: the collector's tiers share one."""

    def __init__(self):
        self._lock = threading.Lock()
        self._sent: dict[tuple[str, str], str] = {}
        self._list_version = now_ms()
        self._charted_ms = 0

    def heartbeat(self) -> None:
        html = render_to_string("live/heartbeat.html", {"cluster": cluster_state()})
        send_now([(groups.HEARTBEAT, html)])

    def cluster_changed(self) -> None:
        with self._lock:
            messages = [*self._overview(), *self._brokers()]
        send_now(messages)

    def zookeeper_changed(self) -> None:
        with self._lock:
            table = self._if_new(groups.ZOOKEEPER, "members", "zookeeper/partials/members.html", ensemble_facts())
            messages = [*self._overview(), *table]
        send_now(messages)

    def topics_changed(self, changes: TopicChanges) -> None:
        with self._lock:
            messages = [
                *self._overview(),
                *self._charts(),
                *self._brokers(),
                *self._topics(changes),
                *self._placement(changes),
            ]
        send_now(messages)

    def moves_changed(self) -> None:
        with self._lock:
            messages = self._if_new(groups.PLACEMENT, "moves", "placement/partials/moves.html", moves_facts())
        send_now(messages)

    def _overview(self) -> list[tuple[str, str]]:
        facts = overview_facts()
        return [
            message
            for name in OVERVIEW_PARTIALS
            for message in self._if_new(groups.CLUSTER_OVERVIEW, name, f"clusters/partials/{name}.html", facts)
        ]

    def _charts(self) -> list[tuple[str, str]]:
        """Drawn when there is a new sample."""
        newest_ms = newest_sample_ms()
        if newest_ms == self._charted_ms:
            return []
        self._charted_ms = newest_ms
        drawn = [{"span": span, "charts": overview_charts(span)} for span in SPANS]
        template = "clusters/partials/charts.html"
        return [(groups.CLUSTER_OVERVIEW, render_to_string(template, each)) for each in drawn]

    def _brokers(self) -> list[tuple[str, str]]:
        context = {"brokers": list(Broker.objects.all()), "cluster": cluster_state()}
        return self._if_new(groups.BROKERS, "broker-table", "brokers/partials/broker-table.html", context)

    def _if_new(self, group: str, name: str, template: str, context: dict) -> list[tuple[str, str]]:
        html = render_to_string(template, context)
        if self._sent.get((group, name)) == html:
            return []
        self._sent[(group, name)] = html
        return [(group, html)]

    def _topics(self, changes: TopicChanges) -> list[tuple[str, str]]:
        if not changes:
            return []
        names = [row.name for row, _ in changes.changed]
        if changes.is_list_changed or len(names) > ROWS_PER_PUSH_MAX:
            self._list_version += 1
            version = render_to_string("topics/partials/list-version.html", {"version": self._list_version})
            messages = [(groups.TOPICS, version)]
        else:
            topics = Topic.objects.filter(name__in=names)
            messages = [
                (groups.TOPICS, render_to_string("topics/partials/topic-rows.html", {"topics": with_groups(topics)}))
            ]
        return [*messages, *self._topic_pages(changes)]

    def _placement(self, changes: TopicChanges) -> list[tuple[str, str]]:
        balance = self._if_new(groups.PLACEMENT, "balance", "placement/partials/balance.html", placement_facts())
        if changes.is_list_changed or len(changes.moved) > ROWS_PER_PUSH_MAX:
            version = render_to_string("placement/partials/version.html", {"version": now_ms()})
            return [*balance, (groups.PLACEMENT, version)]
        if not changes.moved:
            return balance
        rows = matrix_rows(list(Topic.objects.filter(name__in=changes.moved)))
        html = render_to_string("placement/partials/matrix-rows.html", {"rows": rows})
        return [*balance, (groups.PLACEMENT, html)]

    def _topic_pages(self, changes: TopicChanges) -> list[tuple[str, str]]:
        resync = render_to_string("live/resync.html", {"version": now_ms()})
        messages = [(groups.topic(name), resync) for name in changes.deleted]
        for row, partitions in changes.changed[:ROWS_PER_PUSH_MAX]:
            topic = Topic.objects.filter(name=row.name).first()
            if topic is None:
                continue
            numbers = [each.partition for each in partitions]
            changed = Partition.objects.filter(topic=topic, partition__in=numbers).select_related("topic")
            for template in ("topics/partials/topic-summary.html", "topics/partials/partition-rows.html"):
                html = render_to_string(template, {"topic": topic, "partitions": changed})
                messages.append((groups.topic(row.name), html))
        beyond = changes.changed[ROWS_PER_PUSH_MAX:]
        return [*messages, *((groups.topic(row.name), resync) for row, _ in beyond)]
