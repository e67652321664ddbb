"""Declares the producers and transactions of a topic."""

from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import Feature, RouteModule, Tab
from console.kit.features.tier import CollectorTier

FEATURE = Feature(
    package="console.cluster.producers",
    addresses=(RouteModule("topics/", "console.cluster.producers.urls"),),
    tabs=(
        Tab(
            "producers",
            "topic-producers",
            Right.VIEW,
            words="who produces writes",
            shown="Producers",
            after="topic-consumers",
        ),
    ),
    reads=(
        ApiRead(
            "topics/{name}/producers",
            "topic-producers",
            "Producers of a topic, and the transactions open in it",
            after="topics/{name}/consumers",
        ),
    ),
    actions=(
        ApiAction(
            "abort-transaction",
            "topic-abort",
            "End a transaction that no coordinator will, in one partition: the `offset` where it began",
            path=("name", "partition", "offset"),
        ),
    ),
    tiers=(CollectorTier("transactions", 15.0, "console.cluster.producers.collect.tier"),),
)
