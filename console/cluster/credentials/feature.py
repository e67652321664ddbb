"""Declares SCRAM credentials of Kafka users."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.credentials",
    database=Database.CLUSTER,
    addresses=(Addresses("kafka-users/", "console.cluster.credentials.urls"),),
)
