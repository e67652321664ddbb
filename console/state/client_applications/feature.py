"""Declares client applications: which clients write and read which topics."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Database, Feature, PageLink, PushedPage, RouteModule, SidebarEntry

#: The channel group of pages with clients, told that there are new figures.
LIVE_GROUP = "client-applications"

FEATURE = Feature(
    package="console.state.client_applications",
    database=Database.CLUSTER,
    addresses=(
        RouteModule("topics/", "console.state.client_applications.topic_urls"),
        RouteModule("client-applications/", "console.state.client_applications.urls"),
    ),
    links=(
        PageLink(
            "Client applications",
            "client-applications",
            entry=SidebarEntry.GROUPS,
            resource=Resource.TOPIC,
            after="consumers",
        ),
    ),
    places=(
        PagePlace(
            "Client applications",
            "client-applications",
            "who produces consumes writes reads producers library version address client id",
            resource=Resource.TOPIC,
        ),
    ),
    pushed_pages=(PushedPage("client-applications", (LIVE_GROUP,), is_only_news=True),),
    reads=(
        ApiRead(
            "client-applications",
            "client-applications",
            "Clients that produce and consume: topics, rates, library, address",
            after="topics/{name}/producers",
        ),
        ApiRead(
            "topics/{name}/clients",
            "topic-clients",
            "Clients that produce to a topic and consume it, with their rates",
        ),
    ),
)
