"""Declares connectors of Kafka Connect."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage, RowKind
from console.kit.live import groups

FEATURE = Feature(
    package="console.ecosystem.connectors",
    database=Database.CLUSTER,
    addresses=(Addresses("connectors/", "console.ecosystem.connectors.urls"),),
    pushed_pages=(
        PushedPage("connectors", (groups.CONNECTORS,)),
        PushedPage("connector-pages", (groups.CONNECTORS,)),
    ),
    row_kinds=(
        RowKind("connector-row", "console.ecosystem.connectors.row_renderers.connector_rows"),
        RowKind("connector-page", "console.ecosystem.connectors.row_renderers.connector_pages"),
    ),
)
