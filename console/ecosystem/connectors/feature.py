"""Declares connectors of Kafka Connect."""

from console.kit.access.places import Place
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
from console.kit.features.api import Action, Read
from console.kit.features.declaration import Addresses, Database, Feature, Link, PushedPage, RowKind, Section
from console.kit.live import groups

FEATURE = Feature(
    package="console.ecosystem.connectors",
    database=Database.CLUSTER,
    addresses=(Addresses("connectors/", "console.ecosystem.connectors.urls"),),
    links=(
        Link(
            "Connectors",
            "connectors",
            section=Section.RUNNING,
            resource=Resource.PROCESS,
            needs=("has_connect",),
            after="zookeeper",
        ),
    ),
    places=(Place("Connectors", "connectors", "connect", resource=Resource.PROCESS, after="zookeeper-znodes"),),
    commands=(Place("Create a connector", "connector-choose", "new", right=Right.ADMINISTER, after="ensemble-change"),),
    pushed_pages=(
        PushedPage("connectors", (groups.CONNECTORS,)),
        PushedPage("connector-pages", (groups.CONNECTORS,)),
    ),
    row_kinds=(
        RowKind("connector-row", "console.ecosystem.connectors.row_renderers.connector_rows"),
        RowKind("connector-page", "console.ecosystem.connectors.row_renderers.connector_pages"),
    ),
    reads=(
        Read("connectors", "connectors", "Connectors and their tasks", after="streams"),
        Read(
            "connectors/{path:name}/charts",
            "connector-charts",
            "What is charted of a connector",
            after="streams/{name}/charts",
        ),
    ),
    actions=(
        Action(
            "create-connector",
            "connector-create",
            "Create a connector: `as` json, `json` its configuration",
            path=("plugin",),
            form=("as", "json", "name", "sealed"),
            after="add-stream",
        ),
        Action(
            "configure-connector",
            "connector-configure",
            "Configure a connector: `as` json, `json`",
            path=("name",),
            form=("as", "json", "sealed"),
        ),
        Action("delete-connector", "connector-delete", "Delete a connector", path=("name",)),
        Action("do-to-connector", "connector-do", "`deed`: pause, resume, stop, restart …", path=("name", "deed")),
        Action("restart-task", "connector-restart-task", "Restart a task of a connector", path=("name", "task")),
        Action(
            "alter-connector-offsets",
            "connector-offsets",
            "Put a stopped connector's offsets elsewhere",
            path=("name",),
            form=("offsets",),
        ),
        Action(
            "reset-connector-offsets", "connector-reset-offsets", "Forget a stopped connector's offsets", path=("name",)
        ),
    ),
)
