"""Declares the profile of a topic's records."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.contents",
    database=Database.CLUSTER,
    addresses=(Addresses("topics/", "console.cluster.contents.urls"),),
)
