"""Declares retention and purging of topics."""

from console.kit.access.places import Place
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.declaration import (
    Addresses,
    Database,
    Feature,
    FormsOf,
    Link,
    PushedPage,
    SameAction,
    Section,
    Tab,
)
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.retention",
    database=Database.CLUSTER,
    addresses=(
        Addresses("topics/", "console.cluster.retention.urls"),
        Addresses("retention/", "console.cluster.retention.cluster_urls"),
    ),
    links=(Link("Retention", "retention", section=Section.CLUSTER, resource=Resource.TOPIC),),
    places=(Place("Retention", "retention", "deleted disk", resource=Resource.TOPIC),),
    topic_tabs=(
        Tab("retention", "topic-retention", Right.VIEW),
        Tab("purge", "topic-purge", Right.OPERATE),
    ),
    pushed_pages=(PushedPage("retention", (groups.RETENTION,)),),
    forms=(FormsOf("topic-retention", ("topic-configure",)),),
    same_actions=(SameAction("change retention", ("change settings", "change setting")),),
)
