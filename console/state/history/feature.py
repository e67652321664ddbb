"""Declares the history of changes in the cluster."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Database, Feature, PageLink, PushedPage, RouteModule, SidebarEntry, Tab
from console.kit.features.hook import Hook
from console.kit.features.tier import CollectorTier

LIVE_GROUP = "history"

FEATURE = Feature(
    package="console.state.history",
    database=Database.CLUSTER,
    addresses=(RouteModule("", "console.state.history.urls"),),
    links=(PageLink("History", "history", entry=SidebarEntry.ACTIVITY),),
    places=(PagePlace("History", "history", "activity changes events settings acls quotas who changed"),),
    tabs=(
        Tab("history", "topic-history", Right.VIEW, shown="History", after="topic-retention"),
        Tab(
            "history",
            "history",
            Right.VIEW,
            of="broker",
            shown="History",
            query=("search", "Broker {name}"),
            after="broker-settings",
        ),
    ),
    pushed_pages=(PushedPage("history", (LIVE_GROUP,)),),
    reads=(
        ApiRead(
            "topics/{name}/history",
            "topic-history",
            "What has happened to a topic",
            after="topics/{name}/segments/{int:partition}",
        ),
        ApiRead("history", "history", "What has happened in the cluster", after="topics/{name}/leaders"),
    ),
    hooks=(Hook("console.state.consumers.tiers.OBSERVERS", "console.state.history.collect.observer"),),
    tiers=(CollectorTier("configuration", 5.0, "console.state.history.collect.tier"),),
)
