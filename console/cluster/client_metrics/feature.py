"""Declares subscriptions to client metrics."""

from console.kit.access.places import PagePlace
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import Feature, PageLink, RouteModule, SidebarEntry

FEATURE = Feature(
    package="console.cluster.client_metrics",
    addresses=(RouteModule("client-metrics/", "console.cluster.client_metrics.urls"),),
    links=(
        PageLink("Client metrics", "client-metrics", entry=SidebarEntry.ACCESS, needs=("sees_all_names",),
             after="quotas"),
    ),
    places=(PagePlace("Client metrics", "client-metrics", "telemetry subscriptions KIP-714", names_all=True),),
    reads=(ApiRead("client-metrics", "client-metrics", "Subscriptions to client metrics", after="quotas"),),
    actions=(
        ApiAction(
            "change-client-metrics",
            "client-metrics-change",
            "Create, change or, with `delete`, remove a subscription to client metrics",
            form=("name", "interval_ms", "metrics", "match", "delete"),
        ),
    ),
    suggested_actions=("change client metrics", "delete client metrics"),
)  # fmt: skip
