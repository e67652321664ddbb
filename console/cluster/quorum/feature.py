"""Declares the KRaft quorum and the features of a cluster."""

from console.kit.access.places import PagePlace
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Feature, PageLink, RouteModule, SidebarEntry
from console.kit.features.tier import CollectorTier

FEATURE = Feature(
    package="console.cluster.quorum",
    addresses=(
        RouteModule("quorum/", "console.cluster.quorum.urls"),
        RouteModule("features/", "console.cluster.quorum.feature_urls"),
    ),
    links=(
        PageLink("KRaft quorum", "quorum", entry=SidebarEntry.BROKERS, needs=("has_quorum",), after="placement"),
        PageLink("Features", "features", entry=SidebarEntry.BROKERS, also_at=("feature-upgrade",), after="quorum"),
    ),
    places=(
        PagePlace("KRaft quorum", "quorum", "controller voters observers metadata", after="zookeeper"),
        PagePlace("Features", "features", "finalized levels group.version transaction.version upgrade", after="quorum"),
    ),
    tiers=(CollectorTier("quorum", 5.0, "console.cluster.quorum.collect.tier"),),
    reads=(ApiRead("quorum", "quorum", "KRaft quorum and features of the cluster", after="zookeeper"),),
)
