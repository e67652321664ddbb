"""Declares SCRAM credentials of Kafka users."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage, RowKind
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.credentials",
    database=Database.CLUSTER,
    addresses=(Addresses("kafka-users/", "console.cluster.credentials.urls"),),
    pushed_pages=(PushedPage("credentials", (groups.CREDENTIALS,), names_all=True),),
    row_kinds=(RowKind("scram-row", "console.cluster.credentials.row_renderers.scram_rows"),),
)
