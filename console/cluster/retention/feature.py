"""Declares retention and purging of topics."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import (
    Database,
    Feature,
    FormsOf,
    PageLink,
    PushedPage,
    RouteModule,
    SameAction,
    SidebarEntry,
    Tab,
)
from console.kit.features.hook import Hook
from console.kit.features.table import FeatureTable, columns_of
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, PartitionIn, Verb

LIVE_GROUP = "retention"

_RETENTION = PagePlace("Retention", "retention", "deleted disk", resource=Resource.TOPIC)

FEATURE = Feature(
    package="console.cluster.retention",
    database=Database.CLUSTER,
    addresses=(
        RouteModule("topics/", "console.cluster.retention.urls"),
        RouteModule("retention/", "console.cluster.retention.cluster_urls"),
    ),
    links=(PageLink("Retention", "retention", entry=SidebarEntry.TOPICS, resource=Resource.TOPIC),),
    places=(_RETENTION,),
    tabs=(Tab("retention", "topic-retention", Right.VIEW, shown="Retention", after="topic-settings"),),
    verbs=(
        Verb(
            "Delete records of {name}",
            ObjectKind.TOPIC,
            "topic-purge",
            "purge",
            button="Delete records…",
            is_deletion=True,
        ),
        Verb(
            "{name} › segments of partition {partition}",
            ObjectKind.TOPIC,
            "topic-segments",
            "log retention",
            Right.VIEW,
            partition_in=PartitionIn.PATH,
        ),
    ),
    pushed_pages=(PushedPage("retention", (LIVE_GROUP,)),),
    reads=(
        ApiRead(
            "topics/{name}/segments/{int:partition}",
            "topic-segments",
            "Segments of a partition, and when retention deletes each",
            after="topics/{name}/producers",
        ),
        ApiRead("retention", "retention", "What retention keeps and deletes, by topic"),
    ),
    actions=(
        ApiAction(
            "change-retention",
            "topic-retention",
            "Change what retention keeps",
            path=("name",),
            query=("cleanup_policy", "retention_ms", "retention_bytes"),
            confirms="topic-configure",
        ),
        ApiAction(
            "delete-records",
            "topic-purge",
            "Delete records up to the `end`, a `time` (`at`) or an `offset` of one of the `partitions`",
            path=("name",),
            query=("to", "partitions", "offset", "at"),
        ),
    ),
    forms=(FormsOf("topic-retention", ("topic-configure",)),),
    same_actions=(
        SameAction("change retention", ("change settings", "change setting")),
        SameAction("change retention of topics", ("change retention", "change settings", "change setting")),
        SameAction("delete records of topics", ("delete records",)),
    ),
    tables=(
        FeatureTable(
            _RETENTION,
            columns_of("Topic, Size, Keeps, At most, Oldest record, Deleted now, Unread lost, Looked at"),
            order=("sort", "internal"),
            filters=("search",),
            rows=50,
        ),
    ),
    suggested_actions=("delete records",),
    hooks=(
        Hook("console.cluster.topics.bulk.CHANGES", "console.cluster.retention.bulk.RetentionOfTopics"),
        Hook("console.cluster.topics.bulk.CHANGES", "console.cluster.retention.bulk.RecordsOfTopics"),
    ),
    tiers=(CollectorTier("retention", 5.0, "console.cluster.retention.collect.tier"),),
)
