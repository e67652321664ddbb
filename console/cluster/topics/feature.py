"""Declares the pages of topics."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import (
    Database,
    Feature,
    FormsOf,
    ObjectHeader,
    PageLink,
    PushedPage,
    RouteModule,
    RowKind,
    SameAction,
    SidebarEntry,
    Tab,
)
from console.kit.features.hook import Hook
from console.kit.features.table import FeatureTable, columns_of
from console.kit.features.verbs import ObjectKind, Verb
from console.kit.live import groups

#: Told that the deletion of some topics was planned, or called off.
LIVE_GROUP = "topics"

_TOPICS = PagePlace("Topics", "topics", resource=Resource.TOPIC)

FEATURE = Feature(
    package="console.cluster.topics",
    database=Database.CLUSTER,
    addresses=(RouteModule("topics/", "console.cluster.topics.urls"),),
    links=(PageLink("Topics", "topics", entry=SidebarEntry.TOPICS, resource=Resource.TOPIC),),
    places=(_TOPICS,),
    commands=(
        PagePlace("Create a topic", "topic-create", "new add", resource=Resource.TOPIC, right=Right.OPERATE),
        PagePlace(
            "Change many topics", "topics-many", "bulk delete settings", resource=Resource.TOPIC, right=Right.OPERATE
        ),
        PagePlace("Size a topic", "topic-size", "partitions throughput", resource=Resource.TOPIC),
    ),
    tabs=(
        Tab("overview", "topic", Right.VIEW, words="partitions", shown="Overview"),
        Tab("settings", "topic-settings", Right.VIEW, shown="Settings", after="topic-charts"),
    ),
    verbs=(
        Verb(
            "Add partitions to {name}",
            ObjectKind.TOPIC,
            "topic-add-partitions",
            "grow more",
            button="Add partitions…",
        ),
        Verb(
            "Create a topic like {name}",
            ObjectKind.TOPIC,
            "topic-create",
            "clone copy",
            query="like",
            button="Clone…",
        ),
        Verb(
            "Partition calculator for {name}",
            ObjectKind.TOPIC,
            "topic-size",
            "size throughput",
            Right.VIEW,
            query="topic",
            button="Partition calculator…",
        ),
        Verb(
            "Delete topic {name}",
            ObjectKind.TOPIC,
            "topic-delete",
            "remove",
            fixed=(("when", "later"),),
            button="Delete topic…",
            is_deletion=True,
        ),
    ),
    headers=(ObjectHeader("topic", ObjectKind.TOPIC, "console.cluster.topics.header.facts", "Topics", "topics"),),
    pushed_pages=(
        PushedPage("topics", (LIVE_GROUP,), sorted_rows="topic-row"),
        PushedPage("topic", (groups.CHARTS,), of_name=groups.topic, resource=Resource.TOPIC),
    ),
    row_kinds=(
        RowKind("topic-row", "console.cluster.topics.row_renderers.topic_rows"),
        RowKind("topic-head", "console.cluster.topics.row_renderers.topic_heads"),
        RowKind("topic-page", "console.cluster.topics.row_renderers.topic_pages"),
    ),
    reads=(
        ApiRead(
            "topics", "topics", "Topics; `search` chooses", tier="topics", after="brokers/{int:broker_id}/settings"
        ),
        ApiRead(
            "topics/{name}/partitions", "topic", "Leaders, replicas and ISR of a topic's partitions", tier="topics"
        ),
        ApiRead("topics/{name}/settings", "topic-settings", "Settings of a topic, and where they come from"),
    ),
    actions=(
        ApiAction(
            "create-topic",
            "topic-create",
            "Create a topic",
            form=("name", "partition_count", "replication_factor", "configs"),
        ),
        ApiAction(
            "delete-topic",
            "topic-delete",
            "Delete a topic; with `when` later after a day, in which keep-topics calls it off",
            path=("name",),
            query=("undo", "when"),
        ),
        ApiAction("keep-topics", "topics-keep", "Call off the planned deletion of each `topic`", query=("topic",)),
        ApiAction(
            "change-many-topics",
            "topics-many",
            "`do` delete, delete-later, set, retention, partitions, empty or owner, to each `topic`; `setting` and "
            "`value`; `undo` takes one back",
            query=("topic", "do", "setting", "value", "undo"),
        ),
        ApiAction(
            "add-partitions",
            "topic-add-partitions",
            "Give a topic more partitions",
            path=("name",),
            form=("partition_count",),
        ),
        ApiAction(
            "change-topic",
            "topic-settings",
            "Change settings of a topic: `setting` and `value`, as often as wanted",
            path=("name",),
            query=("setting", "value"),
            confirms="topic-set",
            after="abort-transaction",
        ),
    ),
    forms=(FormsOf("topic-settings", ("topic-set",)),),
    same_actions=(
        SameAction("undo create topic", ("delete topic",)),
        SameAction("delete topics", ("delete topic",)),
        SameAction("delete topic later", ("delete topic",)),
        SameAction("delete topics later", ("delete topics", "delete topic")),
        SameAction("change setting of topics", ("change settings", "change setting")),
        SameAction("add partitions to topics", ("add partitions",)),
        SameAction("describe topics", ("describe topic",)),
        SameAction("change setting", ("change settings",)),
        SameAction("change settings", ("change setting",)),
    ),
    tables=(
        FeatureTable(
            _TOPICS,
            columns_of(
                "Topic, State, Partitions, Size, +24 h, Records, In / s, 24 h, Out / s, Last record, Groups, "
                "Lag, Retention"
            ),
            order=("sort", "internal", "applications"),
            filters=("search",),
            rows=50,
        ),
    ),
    hooks=(
        Hook("console.cluster.topics.bulk.CHANGES", "console.cluster.topics.bulk.MorePartitions"),
        Hook("console.cluster.topics.bulk.CHANGES", "console.cluster.topics.bulk.OwnerOfTopics"),
    ),
    suggested_actions=("create topic", "delete topic", "add partitions"),
)
