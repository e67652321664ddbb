"""Declares the pages of brokers."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.brokers",
    database=Database.CLUSTER,
    addresses=(Addresses("brokers/", "console.cluster.brokers.urls"),),
    pushed_pages=(
        PushedPage("brokers", (groups.BROKERS,)),
        PushedPage("broker", of_name=groups.broker_named),
    ),
)
