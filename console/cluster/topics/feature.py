"""Declares the pages of topics."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.topics",
    database=Database.CLUSTER,
    addresses=(Addresses("topics/", "console.cluster.topics.urls"),),
)
