"""Declares the message audit by time windows."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Database, Feature, PageLink, PushedPage, RouteModule, SidebarEntry
from console.kit.features.hook import Hook
from console.kit.features.tier import CollectorTier

#: The message audit's pages, told that a topic was judged otherwise.
LIVE_GROUP = "completeness"

FEATURE = Feature(
    package="console.ecosystem.completeness",
    database=Database.CLUSTER,
    addresses=(RouteModule("completeness/", "console.ecosystem.completeness.urls"),),
    links=(
        PageLink(
            "Message audit",
            "completeness",
            entry=SidebarEntry.MESSAGE_CHECKS,
            resource=Resource.TOPIC,
            also_at=("/completeness/+delivery/",),
            after="probe",
        ),
    ),
    places=(
        PagePlace("Message audit", "completeness", "completeness loss duplicates windows", resource=Resource.TOPIC),
        PagePlace("Delivery", "delivery", "expected received latency control center audit", resource=Resource.TOPIC),
    ),
    pushed_pages=(PushedPage("completeness", (LIVE_GROUP,)),),
    reads=(
        ApiRead("completeness", "completeness", "What was counted of each window of a topic, by tier", after="probe"),
        ApiRead(
            "deliveries", "delivery", "What was delivered of topics to groups, mirrors and sinks; `search` chooses"
        ),
        ApiRead(
            "topics/{name}/delivery",
            "topic-delivery",
            "Expected and received of a topic by produce time: `last` (as `6h`), or `from` and `to`; `reader` chooses",
        ),
    ),
    hooks=(Hook("console.cluster.charts.readings.SOURCES", "console.ecosystem.completeness.charted.readings"),),
    tiers=(CollectorTier("completeness", 5.0, "console.ecosystem.completeness.collect.tier"),),
)
