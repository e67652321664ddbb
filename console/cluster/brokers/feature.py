"""Declares the pages of brokers."""

from console.kit.access.places import Place
from console.kit.features.declaration import (
    Addresses,
    Database,
    Feature,
    FormsOf,
    Link,
    PushedPage,
    SameAction,
    Section,
)
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.brokers",
    database=Database.CLUSTER,
    addresses=(Addresses("brokers/", "console.cluster.brokers.urls"),),
    links=(Link("Brokers", "brokers", section=Section.CLUSTER),),
    places=(Place("Brokers", "brokers"),),
    pushed_pages=(
        PushedPage("brokers", (groups.BROKERS,)),
        PushedPage("broker", of_name=groups.broker_named),
    ),
    forms=(FormsOf("broker-settings", ("broker-set",)),),
    same_actions=(SameAction("move replicas between directories", ("move partitions",)),),
)
