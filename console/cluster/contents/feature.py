"""Declares the profile of a topic's records."""

from console.kit.access.roles import Right
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Database, Feature, RouteModule, Socket, Tab

FEATURE = Feature(
    package="console.cluster.contents",
    database=Database.CLUSTER,
    addresses=(RouteModule("topics/", "console.cluster.contents.urls"),),
    tabs=(Tab("contents", "topic-contents", Right.RECORDS, shown="Contents", after="topic-records"),),
    reads=(
        ApiRead(
            "topics/{name}/contents",
            "topic-contents",
            "Statistics of a topic's records, from the last time they were read for its page",
            scope="records",
            after="topics/{name}/records",
        ),
    ),
    sockets=(Socket("ws/contents/", "console.cluster.contents.socket.ContentsConsumer"),),
)
