"""Declares the pages of brokers."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.brokers",
    database=Database.CLUSTER,
    addresses=(Addresses("brokers/", "console.cluster.brokers.urls"),),
)
