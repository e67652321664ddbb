"""Declares consumer groups and their lag."""

from console.kit.access.places import PagePlace
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import (
    Database,
    Feature,
    ObjectHeader,
    PageLink,
    PushedPage,
    RouteModule,
    RowKind,
    SameAction,
    SidebarEntry,
    Tab,
)
from console.kit.features.table import FeatureTable, columns_of
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb
from console.kit.live import groups

_CONSUMERS = PagePlace("Consumer groups", "consumers", "lag", resource=Resource.GROUP)

FEATURE = Feature(
    package="console.state.consumers",
    database=Database.CLUSTER,
    addresses=(
        RouteModule("topics/", "console.state.consumers.topic_urls"),
        RouteModule("consumers/", "console.state.consumers.urls"),
    ),
    links=(PageLink("Consumer groups", "consumers", entry=SidebarEntry.GROUPS, resource=Resource.GROUP),),
    places=(_CONSUMERS,),
    commands=(
        PagePlace(
            "Prepare a consumer group", "group-prepare", "offsets new", resource=Resource.GROUP, right=Right.OPERATE
        ),
    ),
    tabs=(
        Tab("consumers", "topic-consumers", Right.VIEW, words="who consumes reads groups", shown="Consumers"),
        Tab("overview", "group", Right.VIEW, of="group", shown="Overview"),
    ),
    verbs=(
        Verb("Reset offsets of {name}", ObjectKind.GROUP, "group-reset", "replay rewind skip", button="Reset offsets…"),
        Verb(
            "Delete group {name}", ObjectKind.GROUP, "group-delete", "remove", button="Delete group…", is_deletion=True
        ),
    ),
    headers=(
        ObjectHeader("group", ObjectKind.GROUP, "console.state.consumers.header.facts", "Consumer groups", "consumers"),
    ),
    pushed_pages=(
        PushedPage("consumers", sorted_rows="group-row"),
        PushedPage("consumer-pages", (groups.CHARTS,)),
    ),
    row_kinds=(
        RowKind("group-row", "console.state.consumers.row_renderers.group_rows"),
        RowKind("group-page", "console.state.consumers.row_renderers.group_pages"),
    ),
    reads=(
        ApiRead(
            "topics/{name}/consumers",
            "topic-consumers",
            "How far groups are in a topic, by partition",
            tier="groups",
            after="topics/{name}/settings",
        ),
        ApiRead(
            "groups", "consumers", "Consumer groups: state, lag, verdict", tier="groups", after="topics/{name}/contents"
        ),
        ApiRead(
            "groups/{path:group}/offsets",
            "group",
            "What a group has committed, and its lag, by partition",
            tier="groups",
        ),
        ApiRead(
            "groups/{path:group}/members", "group", "Members of a group", tier="groups", chosen=(("table", "members"),)
        ),
    ),
    actions=(
        ApiAction(
            "reset-group",
            "group-reset",
            "Put offsets to `earliest`, `latest`, `time` (`at`), `offset`, `shift` (`value`), or as a `group` (`like`)",
            path=("group",),
            query=("to", "topic", "partitions", "value", "at", "like", "undo"),
            after="move-between-directories",
        ),
        ApiAction("delete-group", "group-delete", "Delete a consumer group", path=("group",)),
        ApiAction("delete-groups", "groups-many", "Delete each `group`", query=("group",)),
        ApiAction(
            "forget-offsets", "group-forget", "Forget a group's offsets in a topic", path=("group",), query=("topic",)
        ),
    ),
    same_actions=(
        SameAction("delete committed offsets", ("reset offsets",)),
        SameAction("delete consumer group", ("reset offsets",)),
        SameAction("delete consumer groups", ("delete consumer group", "delete share group", "reset offsets")),
        SameAction("reset share group offsets", ("reset offsets",)),
        SameAction(
            "delete share group offsets", ("delete committed offsets", "reset share group offsets", "reset offsets")
        ),
        SameAction("delete share group", ("delete consumer group", "reset offsets")),
    ),
    tables=(
        FeatureTable(
            _CONSUMERS,
            columns_of("Group, Verdict, Type, State, Members, Lag, 24 h, Behind by, Trend, Caught up in, Expires in"),
            order=("sort", "bad"),
            filters=("search", "type"),
            rows=50,
        ),
    ),
    suggested_actions=(
        "reset offsets",
        "delete consumer group",
    ),
    tiers=(
        # Brokers tell rates of the last 15 to 30 seconds.
        CollectorTier("clients", 5.0, "console.state.consumers.client_tier.tier"),
        CollectorTier("groups", 2.0, "console.state.consumers.collect.tier"),
    ),
)
