"""Declares the placement of replicas."""

from console.kit.access.places import Place
from console.kit.access.roles import Right
from console.kit.features.declaration import (
    Addresses,
    Database,
    Feature,
    Link,
    PushedPage,
    RowKind,
    SameAction,
    Section,
)
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.placement",
    database=Database.CLUSTER,
    addresses=(Addresses("placement/", "console.cluster.placement.urls"),),
    links=(Link("Placement", "placement", section=Section.CLUSTER),),
    places=(
        Place("Placement", "placement", "replicas leaders racks"),
        Place("What if", "what-if", "simulate lost broker rack added traffic capacity", names_all=True),
    ),
    commands=(
        Place("Move partitions", "move-partitions", "reassign replicas", right=Right.OPERATE),
        Place("Elect preferred leaders", "elect-leaders", "balance", right=Right.OPERATE),
    ),
    pushed_pages=(PushedPage("placement", (groups.PLACEMENT, groups.staged_moves)),),
    row_kinds=(RowKind("placement-row", "console.cluster.placement.row_renderers.placement_rows"),),
    same_actions=(
        SameAction("undo move", ("move partitions",)),
        SameAction("balance brokers", ("move partitions",)),
        SameAction("demote broker", ("move partitions",)),
        SameAction("drain broker", ("move partitions",)),
        SameAction("spread replicas", ("move partitions",)),
        SameAction("change replication factor", ("move partitions",)),
    ),
)
