"""Declares topics that are protected from deletion."""

from console.kit.features.declaration import Database, Feature, RouteModule
from console.kit.features.hook import Hook
from console.kit.features.tier import CollectorTier

FEATURE = Feature(
    package="console.cluster.protections",
    database=Database.CLUSTER,
    addresses=(RouteModule("topics/", "console.cluster.protections.urls"),),
    hooks=(
        Hook(
            "console.kit.access.internal_topics.REMEMBERED",
            "console.cluster.protections.store.remembered_internal_names",
        ),
        Hook("console.cluster.records.origins.REMEMBERED", "console.cluster.protections.store.remembered_origins"),
    ),
    tiers=(
        # Tried at every look at the topics; the watch itself has a longer interval.
        CollectorTier("protections", 1.5, "console.cluster.protections.collect.tier"),
    ),
)
