"""Declares client quotas and their use."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import Database, Feature, PageLink, PushedPage, RouteModule, RowKind, SidebarEntry
from console.kit.features.hook import Hook
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb

#: Told that a person changed a quota here.
LIVE_GROUP = "quotas"

FEATURE = Feature(
    package="console.cluster.quotas",
    database=Database.CLUSTER,
    addresses=(RouteModule("quotas/", "console.cluster.quotas.urls"),),
    links=(PageLink("Quotas", "quotas", entry=SidebarEntry.ACCESS, needs=("sees_all_names",), after="credentials"),),
    places=(PagePlace("Quotas", "quotas", "limits throttle", names_all=True),),
    commands=(PagePlace("Set a quota", "quota-change", "limit", right=Right.OPERATE, names_all=True),),
    verbs=(Verb("Quotas of {name}", ObjectKind.PRINCIPAL, "quotas", "limits", Right.VIEW, query="search"),),
    pushed_pages=(PushedPage("quotas", (LIVE_GROUP,), names_all=True),),
    row_kinds=(RowKind("quota-row", "console.cluster.quotas.row_renderers.quota_rows"),),
    reads=(ApiRead("quotas", "quotas", "Quotas, and how much of them is used", after="footprint"),),
    actions=(
        ApiAction(
            "change-quotas",
            "quota-change",
            "Change quotas of a user, a client id or an address",
            form=(
                "about",
                "user",
                "client_id",
                "ip",
                "producer_byte_rate",
                "consumer_byte_rate",
                "request_percentage",
                "controller_mutation_rate",
                "connection_creation_rate",
            ),
        ),
    ),
    hooks=(
        Hook(
            "console.state.client_applications.client_quota.QUOTAS_OF_CLIENTS",
            "console.cluster.quotas.of_clients.quotas_of",
        ),
    ),
    suggested_actions=("change quotas",),
    tiers=(
        # As often as brokers tell what is used of quotas, with their requests.
        CollectorTier("quotas", 5.0, "console.cluster.quotas.collect.tier"),
    ),
)
