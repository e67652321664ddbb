"""Declares the placement of replicas."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import (
    Database,
    Feature,
    PageLink,
    PushedPage,
    RouteModule,
    RowKind,
    SameAction,
    SidebarEntry,
)
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.placement",
    database=Database.CLUSTER,
    addresses=(RouteModule("placement/", "console.cluster.placement.urls"),),
    links=(PageLink("Partition placement", "placement", entry=SidebarEntry.BROKERS),),
    places=(
        PagePlace("Partition placement", "placement", "replicas leaders racks"),
        PagePlace("What if", "what-if", "simulate lost broker rack added traffic capacity", names_all=True),
    ),
    commands=(
        PagePlace("Move partitions", "move-partitions", "reassign replicas", right=Right.OPERATE),
        PagePlace("Elect preferred leaders", "elect-leaders", "balance", right=Right.OPERATE),
    ),
    verbs=(
        Verb(
            "Move all replicas away from broker {name}",
            ObjectKind.BROKER,
            "move-partitions",
            "drain",
            query="drain",
            all_topics=True,
            button="Move all replicas away…",
        ),
        Verb(
            "Demote broker {name}",
            ObjectKind.BROKER,
            "move-partitions",
            "leaders",
            query="demote",
            all_topics=True,
            button="Demote…",
        ),
        Verb(
            "What if broker {name} is lost",
            ObjectKind.BROKER,
            "what-if",
            "simulate",
            Right.VIEW,
            query="lost",
            all_topics=True,
            button="What if it is lost…",
        ),
        Verb(
            "Move replicas of {name}",
            ObjectKind.TOPIC,
            "move-partitions",
            "reassign partitions",
            query="topic",
            by_role=True,
            button="Move partitions…",
        ),
    ),
    pushed_pages=(PushedPage("placement", (groups.PLACEMENT, groups.staged_moves)),),
    row_kinds=(RowKind("placement-row", "console.cluster.placement.row_renderers.placement_rows"),),
    reads=(
        ApiRead(
            "placement",
            "placement",
            "Where replicas are, of all partitions",
            tier="topics",
            after="groups/{path:group}/members",
        ),
        ApiRead("what-if", "what-if", "What each broker would have if: `lost`, `rack`, `added`, `traffic`, `kept`"),
        ApiRead("moves", "placement", "Moves of replicas that are under way", chosen=(("table", "moves"),)),
        ApiRead("reassignments", "placement", "Moves that were made here", chosen=(("table", "reassignments"),)),
    ),
    actions=(
        ApiAction("elect-leaders", "elect-leaders", "Let the preferred replicas lead", after="discard-change"),
        ApiAction(
            "move-partitions",
            "move-partitions",
            "Move replicas of a topic: `replicas-N`, brokers with commas between",
            query=("topic", "partition"),
            form=("throttle", "replicas-*"),
        ),
        ApiAction(
            "drain-broker", "move-partitions", "Move all replicas away from a broker", query=("drain", "throttle")
        ),
        ApiAction(
            "balance-brokers",
            "move-partitions",
            "Even out what brokers hold, lead and serve by goals: replicas, leaders, disk, in, out, or all",
            query=("balance", "changes", "throttle"),
        ),
        ApiAction(
            "demote-broker",
            "move-partitions",
            "Let a broker lead nothing, by the order of replicas; elect-leaders makes it so at once",
            query=("demote", "throttle"),
        ),
        ApiAction("spread-replicas", "move-partitions", "Even out what brokers hold", query=("spread", "throttle")),
        ApiAction(
            "change-replication",
            "move-partitions",
            "Another replication factor of a topic",
            query=("topic", "factor", "throttle"),
        ),
        ApiAction("undo-moves", "move-partitions", "Take a reassignment back", query=("undo", "throttle")),
        ApiAction("call-off-moves", "call-off-moves", "Call moves off; `place`: topic:partition", query=("place",)),
    ),
    same_actions=(
        SameAction("undo move", ("move partitions",)),
        SameAction("balance brokers", ("move partitions",)),
        SameAction("demote broker", ("move partitions",)),
        SameAction("drain broker", ("move partitions",)),
        SameAction("spread replicas", ("move partitions",)),
        SameAction("change replication factor", ("move partitions",)),
    ),
    suggested_actions=("move partitions",),
    tiers=(CollectorTier("moves", 2.0, "console.cluster.placement.collect.tier"),),
)
