"""Declares the overview and health of the cluster.

The overview is of the whole cluster and has no object header: its state with the reasons, and its figures as tiles, are
the page itself, and no action is done to a cluster as a whole.
"""

from console.kit.access.places import PagePlace
from console.kit.features.declaration import (
    EntryMark,
    Feature,
    FormsOf,
    PageLink,
    PushedPage,
    RouteModule,
    SidebarEntry,
)
from console.kit.live import groups

FEATURE = Feature(
    package="console.signals.overview",
    addresses=(RouteModule("", "console.signals.overview.urls"),),
    links=(PageLink("Overview", "overview", entry=SidebarEntry.OVERVIEW),),
    marks=(
        EntryMark(
            SidebarEntry.GROUPS, "console.signals.overview.marks.troubled_group_count", "in trouble", tier="groups"
        ),
        EntryMark(
            SidebarEntry.CONNECTORS,
            "console.signals.overview.marks.failed_connector_count",
            "failed",
            tier="connectors",
        ),
        EntryMark(
            SidebarEntry.BROKERS, "console.signals.overview.marks.missing_broker_count", "missing", tier="brokers"
        ),
    ),
    places=(PagePlace("Overview", "overview", "home start"),),
    pushed_pages=(PushedPage("overview", (groups.CLUSTER_OVERVIEW,)),),
    forms=(FormsOf("health", ("health-undo",), is_one_for_all=True),),
)
