"""What a tile says of its cluster: read from the cluster's own database, so that one that hangs holds up nobody."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import DatabaseError
from django.db.models import F

from console.kit.access.clusters import visible_clusters
from console.kit.access.reach import Reach
from console.kit.access.rights import reach_of
from console.kit.common.cluster_urls import address_in, at_cluster
from console.kit.common.declared_clusters import DeclaredCluster
from console.kit.gateway.errors import OTHER
from console.kit.live.idle_pace import call
from console.signals.overview.queries import health_within, state_within, topic_totals
from console.state.clusters.models import Broker
from console.state.consumers.access import groups_within


@dataclass(frozen=True, slots=True)
class Tile:
    """`words` is the first reason of its health; `error`: nothing is known, and why."""

    cluster: DeclaredCluster
    level: str = "unknown"
    words: str = ""
    reason_count: int = 0
    brokers: int = 0
    brokers_known: int = 0
    topics: int = 0
    under_replicated: int = 0
    offline: int = 0
    worst_group: str = ""
    worst_lag: int | None = None
    seen_at_ms: int = 0
    is_silent: bool = False
    error: str = ""

    @property
    def more_count(self) -> int:
        return self.reason_count - 1

    @property
    def is_another(self) -> bool:
        """Whether another cluster than the known one answers."""
        return self.error.startswith(OTHER)


def tiles_of(user: User) -> list[Tile]:
    """Return the tiles of clusters that `user` may view; idle collectors look now."""
    return [_tile_at(cluster, user) for cluster in visible_clusters(user)]


def _tile_at(cluster: DeclaredCluster, user: User) -> Tile:
    with at_cluster(cluster.name):
        try:
            call()
            return _tile(cluster, reach_of(user))
        except DatabaseError as error:
            return Tile(cluster, "critical", error=f"Its database cannot be read: {error}")


def _tile(cluster: DeclaredCluster, reach: Reach) -> Tile:
    state, health, totals = state_within(reach), health_within(reach), topic_totals(reach)
    known = list(Broker.objects.values_list("is_registered", flat=True))
    worst = groups_within(reach).exclude(lag=None).order_by(F("lag").desc(), "name").first()
    return Tile(
        cluster,
        level="unknown" if state.is_collector_silent else str(health.level),
        words=health.reasons[0].text if health.reasons else "",
        reason_count=len(health.reasons),
        brokers=sum(known),
        brokers_known=len(known),
        topics=totals["topic_count"],
        under_replicated=totals["under_replicated"],
        offline=totals["leaderless"],
        worst_group=worst.name if worst and worst.lag else "",
        worst_lag=worst.lag if worst else None,
        seen_at_ms=state.brokers_at_ms,
        is_silent=state.is_collector_silent,
        error=state.brokers_error,
    )


TITLES = ("cluster", "title", "health", "why", "brokers", "brokers_known", "topics", "under_replicated", "offline",
          "worst_group", "worst_lag", "seen_at_ms", "collector_silent", "error", "address")  # fmt: skip


def tile_rows(tiles: Iterable[Tile]) -> Iterator[tuple[object, ...]]:
    for tile in tiles:
        name, title = tile.cluster.name, tile.cluster.title
        yield (
            *(name, title, tile.level, tile.words, tile.brokers, tile.brokers_known, tile.topics),
            *(tile.under_replicated, tile.offline, tile.worst_group, tile.worst_lag, tile.seen_at_ms),
            *(tile.is_silent, tile.error, address_in(name, "overview")),
        )
