"""Declares connectors of Kafka Connect."""

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
    SidebarEntry,
    Tab,
)
from console.kit.features.hook import Hook
from console.kit.features.table import FeatureTable, columns_of
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb
from console.kit.live import groups

#: Told that a person changed a connector here.
LIVE_GROUP = "connectors"

_CONNECTORS = PagePlace("Connectors", "connectors", "connect", resource=Resource.PROCESS, after="zookeeper-znodes")

FEATURE = Feature(
    package="console.ecosystem.connectors",
    database=Database.CLUSTER,
    addresses=(RouteModule("connectors/", "console.ecosystem.connectors.urls"),),
    links=(
        PageLink(
            "Connectors",
            "connectors",
            entry=SidebarEntry.CONNECTORS,
            resource=Resource.PROCESS,
            needs=("has_connect",),
        ),
    ),
    places=(_CONNECTORS,),
    commands=(
        PagePlace("Create a connector", "connector-choose", "new", right=Right.ADMINISTER, after="ensemble-change"),
    ),
    verbs=(
        *(
            Verb(title, ObjectKind.CONNECTOR, "connector-do", words, arguments=(deed,), button=button)
            for title, words, deed, button in (
                ("Restart connector {name} and its tasks", "", "restart-all", "Restart…"),
                ("Restart what failed of connector {name}", "tasks", "restart-failed", "Restart what failed…"),
                ("Pause connector {name}", "", "pause", "Pause…"),
                ("Resume connector {name}", "", "resume", "Resume…"),
                ("Stop connector {name}", "", "stop", "Stop…"),
            )
        ),
        Verb(
            "Configure connector {name}",
            ObjectKind.CONNECTOR,
            "connector-configure",
            "edit",
            Right.ADMINISTER,
            button="Configure…",
        ),
        Verb(
            "Alter offsets of connector {name}",
            ObjectKind.CONNECTOR,
            "connector-offsets",
            all_topics=True,
            button="Alter offsets…",
        ),
        Verb(
            "Reset offsets of connector {name}",
            ObjectKind.CONNECTOR,
            "connector-reset-offsets",
            all_topics=True,
            button="Reset offsets…",
            is_deletion=True,
        ),
        Verb(
            "Delete connector {name}",
            ObjectKind.CONNECTOR,
            "connector-delete",
            "remove",
            Right.ADMINISTER,
            button="Delete connector…",
            is_deletion=True,
        ),
    ),
    tabs=(
        Tab("overview", "connector", Right.VIEW, of="connector", shown="Overview"),
        Tab("charts", "connector-charts", Right.VIEW, of="connector", shown="Charts"),
    ),
    headers=(
        ObjectHeader(
            "connector", ObjectKind.CONNECTOR, "console.ecosystem.connectors.header.facts", "Connectors", "connectors"
        ),
    ),
    pushed_pages=(
        PushedPage("connectors", (LIVE_GROUP,)),
        PushedPage("connector-pages", (LIVE_GROUP, groups.CHARTS)),
    ),
    row_kinds=(
        RowKind("connector-row", "console.ecosystem.connectors.row_renderers.connector_rows"),
        RowKind("connector-page", "console.ecosystem.connectors.row_renderers.connector_pages"),
    ),
    reads=(
        ApiRead("connectors", "connectors", "Connectors and their tasks", after="streams"),
        ApiRead(
            "connectors/{path:name}/charts",
            "connector-charts",
            "What is charted of a connector",
            after="streams/{name}/charts",
        ),
    ),
    actions=(
        ApiAction(
            "create-connector",
            "connector-create",
            "Create a connector: `as` json, `json` its configuration",
            path=("plugin",),
            form=("as", "json", "name", "sealed"),
            after="add-stream",
        ),
        ApiAction(
            "configure-connector",
            "connector-configure",
            "Configure a connector: `as` json, `json`",
            path=("name",),
            form=("as", "json", "sealed"),
        ),
        ApiAction("delete-connector", "connector-delete", "Delete a connector", path=("name",)),
        ApiAction("do-to-connector", "connector-do", "`deed`: pause, resume, stop, restart …", path=("name", "deed")),
        ApiAction("restart-task", "connector-restart-task", "Restart a task of a connector", path=("name", "task")),
        ApiAction(
            "alter-connector-offsets",
            "connector-offsets",
            "Change a stopped connector's offsets",
            path=("name",),
            form=("offsets",),
        ),
        ApiAction(
            "reset-connector-offsets", "connector-reset-offsets", "Forget a stopped connector's offsets", path=("name",)
        ),
    ),
    hooks=(
        Hook(
            "console.processes.dependents.INMATES",
            "console.ecosystem.connectors.hosted_connectors.connectors_of_workers",
        ),
        Hook("console.processes.topic_users.USERS", "console.ecosystem.connectors.topic_users.connectors_of"),
        Hook(
            "console.cluster.records.origins.ORIGINS", "console.ecosystem.connectors.topic_users.origins_of_connectors"
        ),
        Hook(
            "console.kit.access.internal_topics.NAMED_BY", "console.ecosystem.connectors.topic_users.own_offset_topics"
        ),
        Hook("console.cluster.charts.readings.SOURCES", "console.ecosystem.connectors.charted.readings"),
    ),
    tables=(
        FeatureTable(
            _CONNECTORS,
            columns_of("Connector, State, Tasks, Lag or rate, Worker"),
            order=("kind", "failed"),
            filters=("search",),
            rows=50,
        ),
    ),
    suggested_actions=("* connector",),
    tiers=(
        # One request for all of them; a worker that is away costs its own tier alone.
        CollectorTier("connectors", 2.0, "console.ecosystem.connectors.collect.tier"),
    ),
)
