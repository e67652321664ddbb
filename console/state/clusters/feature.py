"""Declares the cluster's state as the collector stores it."""

from console.kit.features.declaration import Database, Feature
from console.kit.features.hook import Hook

FEATURE = Feature(
    package="console.state.clusters",
    database=Database.CLUSTER,
    hooks=(Hook("console.kit.gateway.connection.identity.CLUSTER_ID", "console.state.clusters.queries.cluster_id"),),
)
