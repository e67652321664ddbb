"""Declares consumer groups and their lag."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.state.consumers",
    database=Database.CLUSTER,
    addresses=(
        Addresses("topics/", "console.state.consumers.topic_urls"),
        Addresses("consumers/", "console.state.consumers.urls"),
    ),
)
