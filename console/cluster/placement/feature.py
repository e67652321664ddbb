"""Declares the placement of replicas."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.placement",
    database=Database.CLUSTER,
    addresses=(Addresses("placement/", "console.cluster.placement.urls"),),
)
