"""Declares charts of the cluster and its parts."""

from console.cluster.charts.tiers import FINEST
from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Database, Feature, PageLink, PushedPage, RouteModule, SidebarEntry, Tab
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb
from console.kit.live import groups

LIVE_GROUP = groups.CHARTS

FEATURE = Feature(
    package="console.cluster.charts",
    database=Database.CLUSTER,
    addresses=(RouteModule("", "console.cluster.charts.urls"),),
    template_libraries=("object_charts",),
    links=(PageLink("Charts", "charts", entry=SidebarEntry.METRICS, needs=("sees_all_names",)),),
    places=(PagePlace("Charts", "charts", "rates requests latency", names_all=True),),
    tabs=(
        Tab("charts", "topic-charts", Right.VIEW, shown="Charts", after="topic-producers"),
        Tab("charts", "broker-charts", Right.VIEW, of="broker", shown="Charts", after="broker"),
        Tab("charts", "group-charts", Right.VIEW, of="group", shown="Charts", after="group"),
        Tab("charts", "process-charts", Right.VIEW, of="process", shown="Charts", after="process"),
    ),
    verbs=(
        Verb("Charts of group {name}", ObjectKind.GROUP, "group-charts", "lag", Right.VIEW),
        Verb("Charts of broker {name}", ObjectKind.BROKER, "broker-charts", right=Right.VIEW),
        Verb("Charts of {name}", ObjectKind.PROCESS, "process-charts", "cpu memory", Right.VIEW),
    ),
    pushed_pages=(PushedPage("charts", (LIVE_GROUP,)),),
    reads=(
        ApiRead(
            "charts",
            "charts",
            "What is charted of the cluster, over a range: `last` (as `6h`), or `from` and `to`",
            after="alerts",
        ),
        ApiRead("topics/{name}/charts", "topic-charts", "What is charted of a topic"),
        ApiRead("brokers/{int:broker_id}/charts", "broker-charts", "What is charted of a broker"),
        ApiRead("groups/{path:group}/charts", "group-charts", "What is charted of a consumer group"),
        ApiRead("processes/{name}/charts", "process-charts", "What is charted of a process"),
    ),
    tiers=(CollectorTier("charts", FINEST.step_ms / 1000, "console.cluster.charts.collect.tier"),),
)
