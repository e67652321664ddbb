"""Declares stream jobs on Spark."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.ecosystem.streams",
    database=Database.CLUSTER,
    addresses=(Addresses("streams/", "console.ecosystem.streams.urls"),),
)
