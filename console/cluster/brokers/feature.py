"""Declares the pages of brokers."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import (
    Database,
    Feature,
    FormsOf,
    ObjectHeader,
    PageLink,
    PushedPage,
    RouteModule,
    SameAction,
    SidebarEntry,
    Tab,
)
from console.kit.features.table import FeatureTable, columns_of
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb
from console.kit.live import groups


def broker_group(broker_id: int) -> str:
    """Return the group of the pages of one broker."""
    return f"broker.{broker_id}"


def group_of_broker(name: str) -> str | None:
    """Return the group of the broker with this id in decimal digits; None for another text."""
    return broker_group(int(name)) if name.isascii() and name.isdigit() else None


_BROKERS = PagePlace("Brokers", "brokers")

FEATURE = Feature(
    package="console.cluster.brokers",
    database=Database.CLUSTER,
    addresses=(RouteModule("brokers/", "console.cluster.brokers.urls"),),
    links=(PageLink("Brokers", "brokers", entry=SidebarEntry.BROKERS),),
    places=(_BROKERS,),
    verbs=(
        Verb("Settings of broker {name}", ObjectKind.BROKER, "broker-settings", "configs", Right.VIEW),
        Verb("Partitions of broker {name}", ObjectKind.BROKER, "broker-partitions", "leads replicas", Right.VIEW),
    ),
    tabs=(
        Tab("overview", "broker", Right.VIEW, of="broker", shown="Overview"),
        Tab("partitions", "broker-partitions", Right.VIEW, of="broker", shown="Partitions", after="broker-charts"),
        Tab("settings", "broker-settings", Right.VIEW, of="broker", shown="Settings", after="broker-partitions"),
    ),
    headers=(ObjectHeader("broker", ObjectKind.BROKER, "console.cluster.brokers.header.facts", "Brokers", "brokers"),),
    pushed_pages=(
        PushedPage("brokers", (groups.BROKERS,)),
        PushedPage("broker", (groups.CHARTS,), of_name=group_of_broker),
    ),
    reads=(
        ApiRead(
            "brokers",
            "brokers",
            "Brokers: whether they are registered, what they lead and hold",
            tier="topics",
            after="clusters/compare",
        ),
        ApiRead(
            "brokers/{int:broker_id}/partitions", "broker-partitions", "What a broker leads and follows", tier="topics"
        ),
        ApiRead("brokers/{int:broker_id}/requests", "broker", "How long requests to a broker take, by API"),
        ApiRead(
            "brokers/{int:broker_id}/settings", "broker-settings", "Settings of a broker, and where they come from"
        ),
    ),
    actions=(
        ApiAction(
            "change-broker",
            "broker-settings",
            "Change a setting of a broker, or of all with `scope` all",
            path=("broker_id",),
            query=("setting", "value", "scope"),
            confirms="broker-set",
            after="delete-records",
        ),
        ApiAction(
            "move-between-directories",
            "broker-directories",
            "Move replicas, each `place` topic:partition, `to` another directory of their broker; "
            "`undo` puts them back",
            path=("broker_id",),
            query=("place", "to", "undo"),
        ),
    ),
    forms=(FormsOf("broker-settings", ("broker-set",)),),
    same_actions=(SameAction("move replicas between directories", ("move partitions",)),),
    tables=(
        FeatureTable(
            _BROKERS,
            columns_of(
                "Broker, State, Restart, Address and rack, Software, Leads, Replicas, Out of sync, Size, Records / s, "
                "24 h, Bytes / s"
            ),
        ),
    ),
    tiers=(
        # Sizes are for people: their pages are not watched by the second, and a look walks every log directory.
        CollectorTier("sizes", 10.0, "console.cluster.brokers.collect.size_tier"),
        # Latencies are those of the last minute, so they move slowly.
        CollectorTier("requests", 5.0, "console.cluster.brokers.collect.request_tier"),
    ),
)
