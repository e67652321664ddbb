"""What the collector pushes, and to whom: a partial goes out only if it reads differently from what went out before.

Of rows only the keys go out; who shows them renders them.
"""

import threading
from collections.abc import Mapping

from django.template.loader import render_to_string

from console.brokers.words import with_words
from console.clusters.models import Broker
from console.clusters.queries import cluster_state
from console.clusters.topic_rows import TopicChanges
from console.live import groups
from console.live.changes import ChangeSender
from console.live.push import send_now
from console.overview.charts import SPANS, overview_charts
from console.overview.queries import overview_facts
from console.overview.samples import newest_sample_ms
from console.placement.queries import moves_facts, placement_facts
from console.zookeeper.queries import ensemble_facts

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
        self._changes = ChangeSender("topics")
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

    def topics_changed(self, changes: TopicChanges, keys: Mapping[str, int]) -> None:
        """After each look, also one without changes. `keys`: the primary keys of what was created or changed."""
        self._send_rows(changes, keys)
        with self._lock:
            messages = [*self._overview(), *self._charts(), *self._brokers(), *self._placement()]
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
            for message in self._if_new(groups.CLUSTER_OVERVIEW, name, f"overview/partials/{name}.html", facts)
        ]

    def _charts(self) -> list[tuple[str, str]]:
        """Drawn when there is a new sample."""
        newest_ms = newest_sample_ms()
        if newest_ms == self._charted_ms:
            return []
        self._charted_ms = newest_ms
        drawn = [{"span": span, "charts": overview_charts(span)} for span in SPANS]
        template = "overview/partials/charts.html"
        return [(groups.CLUSTER_OVERVIEW, render_to_string(template, each)) for each in drawn]

    def _brokers(self) -> list[tuple[str, str]]:
        context = {"brokers": with_words(Broker.objects.all()), "cluster": cluster_state()}
        return self._if_new(groups.BROKERS, "broker-table", "brokers/partials/broker-table.html", context)

    def _if_new(self, group: str, name: str, template: str, context: dict) -> list[tuple[str, str]]:
        html = render_to_string(template, context)
        if self._sent.get((group, name)) == html:
            return []
        self._sent[(group, name)] = html
        return [(group, html)]

    def _placement(self) -> list[tuple[str, str]]:
        return self._if_new(groups.PLACEMENT, "balance", "placement/partials/balance.html", placement_facts())

    def _send_rows(self, changes: TopicChanges, keys: Mapping[str, int]) -> None:
        partitions = {keys[row.name]: [each.partition for each in changed] for row, changed in changes.changed}
        pages = [f"topic:{name}" for name in changes.deleted]
        if changes.is_list_changed:
            pages += ["topics", "placement"]
        rows = {
            "topic-row": partitions.keys(),
            "topic-page": partitions.keys(),
            "placement-row": [keys[name] for name in changes.moved],
        }
        self._changes.send(rows, pages, partitions)
