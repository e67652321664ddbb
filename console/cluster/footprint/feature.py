"""Declares the console's own requests to brokers."""

from console.kit.access.places import PagePlace
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Feature, PageLink, PushedPage, RouteModule, SidebarEntry
from console.kit.features.hook import Hook
from console.kit.features.tier import CollectorTier

#: The page of the console's own requests, told again and again that there are new figures.
LIVE_GROUP = "footprint"

FEATURE = Feature(
    package="console.cluster.footprint",
    addresses=(RouteModule("footprint/", "console.cluster.footprint.urls"),),
    links=(PageLink("Console load", "footprint", entry=SidebarEntry.METRICS),),
    places=(PagePlace("Console load", "footprint", "footprint own requests console load budget reading in flight"),),
    pushed_pages=(PushedPage("footprint", (LIVE_GROUP,), is_only_news=True),),
    reads=(
        ApiRead(
            "footprint",
            "footprint",
            "The console's own requests of the last minute, by broker and API",
            after="kafka-users",
        ),
    ),
    tiers=(CollectorTier("footprint", 5.0, "console.cluster.footprint.ticks.tier"),),
    hooks=(Hook("console.kit.common.ticks.TICKS", "console.cluster.footprint.ticks.tick"),),
)
