"""Declares topics that are protected from deletion."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.protections",
    database=Database.CLUSTER,
    addresses=(Addresses("topics/", "console.cluster.protections.urls"),),
)
