"""Declares retention and purging of topics."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.retention",
    database=Database.CLUSTER,
    addresses=(
        Addresses("topics/", "console.cluster.retention.urls"),
        Addresses("retention/", "console.cluster.retention.cluster_urls"),
    ),
)
