"""Declares the history of changes in the cluster."""

from console.kit.access.places import Place
from console.kit.access.roles import Right
from console.kit.features.api import Read
from console.kit.features.declaration import Addresses, Database, Entry, Feature, Link, PushedPage, Tab

LIVE_GROUP = "history"

FEATURE = Feature(
    package="console.state.history",
    database=Database.CLUSTER,
    addresses=(Addresses("", "console.state.history.urls"),),
    links=(Link("History", "history", entry=Entry.ACTIVITY),),
    places=(Place("History", "history", "changes events"),),
    topic_tabs=(Tab("history", "topic-history", Right.VIEW),),
    pushed_pages=(PushedPage("history", (LIVE_GROUP,)),),
    reads=(
        Read(
            "topics/{name}/history",
            "topic-history",
            "What has happened to a topic",
            after="topics/{name}/segments/{int:partition}",
        ),
        Read("history", "history", "What has happened in the cluster", after="topics/{name}/leaders"),
    ),
)
