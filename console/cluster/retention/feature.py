"""Declares retention and purging of topics."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.retention",
    database=Database.CLUSTER,
    addresses=(
        Addresses("topics/", "console.cluster.retention.urls"),
        Addresses("retention/", "console.cluster.retention.cluster_urls"),
    ),
    pushed_pages=(PushedPage("retention", (groups.RETENTION,)),),
)
