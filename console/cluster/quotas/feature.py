"""Declares client quotas and their use."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.quotas",
    database=Database.CLUSTER,
    addresses=(Addresses("quotas/", "console.cluster.quotas.urls"),),
)
