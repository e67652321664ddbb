"""Declares the placement of replicas."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage, RowKind
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.placement",
    database=Database.CLUSTER,
    addresses=(Addresses("placement/", "console.cluster.placement.urls"),),
    pushed_pages=(PushedPage("placement", (groups.PLACEMENT, groups.staged_moves)),),
    row_kinds=(RowKind("placement-row", "console.cluster.placement.row_renderers.placement_rows"),),
)
