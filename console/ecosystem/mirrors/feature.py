"""Declares mirrors between clusters."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.features.api import ApiRead
from console.kit.features.declaration import (
    Database,
    Feature,
    PageLink,
    PushedPage,
    RouteModule,
    SameAction,
    SidebarEntry,
)
from console.kit.features.hook import Hook
from console.kit.features.tier import CollectorTier

#: The mirrors' page, told that a mirror has said something else.
LIVE_GROUP = "mirrors"

FEATURE = Feature(
    package="console.ecosystem.mirrors",
    database=Database.CLUSTER,
    addresses=(RouteModule("mirrors/", "console.ecosystem.mirrors.urls"),),
    links=(PageLink("Mirrors", "mirrors", entry=SidebarEntry.CONNECTORS, resource=Resource.TOPIC, after="streams"),),
    places=(PagePlace("Mirrors", "mirrors", "copies clusters", resource=Resource.TOPIC),),
    pushed_pages=(PushedPage("mirrors", (LIVE_GROUP,)),),
    reads=(
        ApiRead("mirrors", "mirrors", "What is copied between clusters, by partition", after="connectors"),
        ApiRead("mirrors/{int:number}/charts", "mirror-charts", "What is charted of a mirrored topic"),
    ),
    same_actions=(SameAction("move consumer group", ("reset offsets",)),),
    hooks=(
        Hook("console.processes.topic_users.USERS", "console.ecosystem.mirrors.topic_users.mirrors_of"),
        Hook("console.cluster.records.origins.ORIGINS", "console.ecosystem.mirrors.topic_users.origins_of_copies"),
        Hook("console.cluster.charts.readings.SOURCES", "console.ecosystem.mirrors.charted.readings"),
    ),
    tiers=(
        CollectorTier("mirrors", 3.0, "console.ecosystem.mirrors.collect.tier"),
        CollectorTier("mirrors elsewhere", 3.0, "console.ecosystem.mirrors.collect.tier_elsewhere"),
    ),
)
