"""What the collector pushes, and to whom: a partial goes out only if it reads differently from what went out before,
and is rendered only while a page listens. Of rows only the keys go out; who shows them renders them.
"""

import threading
from collections.abc import Callable, Collection, Mapping

from django.conf import settings
from django.template.loader import render_to_string

from console.cluster.brokers.restart_safety import with_restart_safety
from console.cluster.brokers.state_names import with_state_names
from console.cluster.placement.queries import placement_facts
from console.cluster.zookeeper.queries import ensemble_facts
from console.kit.access.reach import EVERYTHING
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import is_main
from console.kit.common.time_range import TimeRange
from console.kit.features.declaration import SidebarEntry
from console.kit.features.marks import counts_for_all
from console.kit.live import groups
from console.kit.live.audience import listened
from console.kit.live.changes import ChangeSender
from console.kit.live.push import resync_html, send_message, send_now
from console.signals.overview.charts import LENGTHS, overview_charts
from console.signals.overview.queries import health_within, overview_facts, topic_totals
from console.signals.overview.samples import newest_sample_ms
from console.state.clusters.queries import all_brokers, cluster_state
from console.state.clusters.topic_rows import TopicChanges

OVERVIEW_PARTIALS = (
    "health",
    "tiles",
    "troubled-partitions",
    "planned-deletions",
    "broker-strip",
    "processes",
    "busiest-topics",
    "zookeeper-servers",
    "recent-changes",
)

#: What goes out now, of one part of a group's pages: the group and the HTML.
_Renderer = Callable[[], list[tuple[str, str]]]


class Announcer:
    """Thread-safe: the collector's tiers share one. `listened` says which of some groups have listeners."""

    def __init__(self, listened: Callable[[Collection[str]], Collection[str]] = listened):
        self._listened = listened
        self._lock = threading.Lock()
        self._sent: dict[tuple[str, str], str] = {}
        self._changes = ChangeSender("topics")
        self._charted_ms = 0
        self._counts: dict[SidebarEntry, int | None] = {}

    def heartbeat(self) -> None:
        """Push the time to all pages while any is open, as `IdlePace.review` reports."""
        send_now([(groups.HEARTBEAT, render_to_string("live/heartbeat.html", {"cluster": cluster_state()}))])

    def cluster_changed(self, is_news: bool = True) -> None:
        """Push the cluster.

        Without news the overview waits for the next look at the topics, which renders all of it.
        """
        renderers = {groups.BROKERS: [self._brokers]} | ({groups.FLEET: [self._fleet]} if settings.CLUSTERS else {})
        self._send(renderers | ({groups.CLUSTER_OVERVIEW: [self._overview]} if is_news else {}))

    def zookeeper_changed(self, is_news: bool = True) -> None:
        """Push ZooKeeper's servers. `is_news`: health may have changed; if not, only figures have."""
        overview = self._overview if is_news else self._zookeeper_servers
        self._send({groups.CLUSTER_OVERVIEW: [overview], groups.ZOOKEEPER: [self._members]})

    def topics_changed(self, changes: TopicChanges, keys: Mapping[str, int]) -> None:
        """Push after each look, also one without changes. `keys`: primary keys of created or changed topics."""
        renderers = {
            groups.CLUSTER_OVERVIEW: [self._overview, self._charts],
            groups.BROKERS: [self._brokers],
            groups.PLACEMENT: [self._placement],
        }
        with self._lock:
            heard = frozenset(self._listened([groups.CHANGES, groups.MARKS, *renderers]))
            messages = self._rendered(renderers, heard)
        if groups.MARKS in heard:
            self._push_marks()
        self._send_rows(changes, keys, groups.CHANGES in heard)
        send_now(messages)

    def _push_marks(self) -> None:
        """Send no counts: what a person may see of them differs."""
        counts = counts_for_all(cluster_state().unknown_tiers)
        if counts != self._counts:
            self._counts = counts
            send_message(groups.MARKS, {"type": "marks.changed", "version": now_ms()})

    def _send(self, renderers: Mapping[str, list[_Renderer]]) -> None:
        with self._lock:
            messages = self._rendered(renderers, frozenset(self._listened(renderers.keys())))
        send_now(messages)

    def _rendered(self, renderers: Mapping[str, list[_Renderer]], heard: Collection[str]) -> list[tuple[str, str]]:
        self._forget(renderers.keys() - heard)
        return [message for group in renderers if group in heard for render in renderers[group] for message in render()]

    def _forget(self, unheard: Collection[str]) -> None:
        """Forget what was sent last before there were listeners: a later page may have drawn something else."""
        self._sent = {key: html for key, html in self._sent.items() if key[0] not in unheard}

    def _overview(self) -> list[tuple[str, str]]:
        facts = overview_facts()
        return [
            message
            for name in OVERVIEW_PARTIALS
            for message in self._if_new(groups.CLUSTER_OVERVIEW, name, f"overview/partials/{name}.html", facts)
        ]

    def _zookeeper_servers(self) -> list[tuple[str, str]]:
        template, context = "overview/partials/zookeeper-servers.html", {"cluster": cluster_state()}
        return self._if_new(groups.CLUSTER_OVERVIEW, "zookeeper-servers", template, context)

    def _charts(self) -> list[tuple[str, str]]:
        """Return charts, drawn when there is a new sample. Pages with another range fetch their charts themselves."""
        newest_ms = newest_sample_ms()
        if newest_ms == self._charted_ms:
            return []
        self._charted_ms = newest_ms
        ranges = [TimeRange(last, lengths=LENGTHS) for last in LENGTHS]
        drawn = [
            render_to_string("overview/partials/charts.html", {"range": range_, "charts": overview_charts(range_)})
            for range_ in ranges
        ]
        version = render_to_string("overview/partials/version.html", {"version": newest_ms})
        return [(groups.CLUSTER_OVERVIEW, html) for html in (*drawn, version)]

    def _brokers(self) -> list[tuple[str, str]]:
        context = {"brokers": with_restart_safety(with_state_names(all_brokers())), **_of_cluster()}
        return self._if_new(groups.BROKERS, "broker-table", "brokers/partials/broker-table.html", context)

    def _fleet(self) -> list[tuple[str, str]]:
        """Return a push by which the page of all clusters fetches itself, if what it shows changed: users see different
        clusters.
        """
        facts = {"health": health_within(EVERYTHING), "totals": topic_totals(), "cluster": cluster_state()}
        is_new = self._if_new(groups.FLEET, "sign", "fleet/partials/sign.html", facts)
        return [(groups.FLEET, resync_html(now_ms()))] if is_new else []

    def _if_new(self, group: str, name: str, template: str, context: Mapping[str, object]) -> list[tuple[str, str]]:
        html = render_to_string(template, context)
        if self._sent.get((group, name)) == html:
            return []
        self._sent[(group, name)] = html
        return [(group, html)]

    def _members(self) -> list[tuple[str, str]]:
        return self._if_new(groups.ZOOKEEPER, "members", "zookeeper/partials/members.html", ensemble_facts())

    def _placement(self) -> list[tuple[str, str]]:
        return self._if_new(
            groups.PLACEMENT, "balance", "placement/partials/balance.html", placement_facts() | _of_cluster()
        )

    def _send_rows(self, changes: TopicChanges, keys: Mapping[str, int], is_heard: bool) -> None:
        partitions = {
            keys[row.name]: [partition.partition for partition in changed] for row, changed in changes.changed
        }
        pages = [f"topic:{name}" for name in changes.deleted]
        if changes.is_list_changed:
            pages += ["topics", "placement"]
        rows = {
            "topic-row": partitions.keys(),
            "topic-page": partitions.keys(),
            "topic-head": partitions.keys(),
            "placement-row": [keys[name] for name in changes.moved],
        }
        self._changes.send(rows, pages, partitions, is_heard=is_heard)


def _of_cluster() -> dict[str, object]:
    """Return what every page has of its cluster besides what its view gives it."""
    return {"cluster": cluster_state(), "runs_brokers": is_main() and settings.RUNS_BROKERS}
