"""Declares connectors of Kafka Connect."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.ecosystem.connectors",
    database=Database.CLUSTER,
    addresses=(Addresses("connectors/", "console.ecosystem.connectors.urls"),),
)
