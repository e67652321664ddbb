"""Declares the cluster's state as the collector stores it."""

from console.kit.features.declaration import Database, Feature

FEATURE = Feature(
    package="console.state.clusters",
    database=Database.CLUSTER,
)
