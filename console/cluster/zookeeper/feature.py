"""Declares the ZooKeeper ensemble and its znodes."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import Database, Feature, FormsOf, PageLink, PushedPage, RouteModule, SidebarEntry
from console.kit.live import groups


def ensemble_group(can_operate: bool) -> str:
    """Return the group of a change of the ensemble, which has a button for users who may call it off."""
    return "ensemble.operate" if can_operate else "ensemble.view"


FEATURE = Feature(
    package="console.cluster.zookeeper",
    database=Database.CLUSTER,
    addresses=(RouteModule("zookeeper/", "console.cluster.zookeeper.urls"),),
    template_libraries=("znodes",),
    links=(
        PageLink("ZooKeeper", "zookeeper", entry=SidebarEntry.BROKERS, needs=("has_zookeeper",), after="placement"),
    ),
    places=(
        PagePlace("ZooKeeper", "zookeeper", "ensemble quorum", after="processes"),
        PagePlace("Znodes", "zookeeper-znodes", "zookeeper tree", names_all=True),
    ),
    commands=(
        PagePlace(
            "Change the ensemble",
            "ensemble-change",
            "zookeeper grow shrink replace",
            right=Right.OPERATE,
            after="rolling-restart",
        ),
    ),
    pushed_pages=(PushedPage("zookeeper", (groups.ZOOKEEPER, ensemble_group)),),
    reads=(ApiRead("zookeeper", "zookeeper", "Servers of the ensemble", after="retention"),),
    actions=(
        ApiAction(
            "change-ensemble",
            "ensemble-change",
            "Grow or shrink the ensemble, or replace a server",
            query=("kind", "server"),
            after="rolling-restart",
        ),
    ),
    forms=(FormsOf("zookeeper", ("ensemble-call-off",), is_one_for_all=True),),
)
