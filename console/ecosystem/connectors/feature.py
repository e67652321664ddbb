"""Declares connectors of Kafka Connect."""

from console.kit.access.places import Place
from console.kit.access.reach import Resource
from console.kit.access.roles import Right
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
)
