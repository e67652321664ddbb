"""Declares alerts, their rules and channels."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiRead
from console.kit.features.declaration import (
    Database,
    EntryMark,
    Feature,
    FormsOf,
    ObjectHeader,
    PageLink,
    PushedPage,
    RouteModule,
    SidebarEntry,
)
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb

LIVE_GROUP = "alerts"

FEATURE = Feature(
    package="console.signals.alerts",
    database=Database.CLUSTER,
    addresses=(RouteModule("alerts/", "console.signals.alerts.urls"),),
    links=(PageLink("Alerts", "alerts", entry=SidebarEntry.ALERTS, needs=("sees_all_names",)),),
    marks=(EntryMark(SidebarEntry.ALERTS, "console.signals.alerts.queries.firing_count", "firing"),),
    places=(PagePlace("Alerts", "alerts", "rules silence", names_all=True),),
    pushed_pages=(PushedPage("alerts", (LIVE_GROUP,), names_all=True),),
    commands=(
        PagePlace("Add an alert rule", "alert-rule-add", "new lag disk", right=Right.ADMINISTER, names_all=True),
    ),
    verbs=(
        Verb(
            "Change the rule {name}",
            ObjectKind.ALERT_RULE,
            "alert-rule-change",
            right=Right.ADMINISTER,
            button="Change…",
        ),
        Verb(
            "Remove the rule {name}",
            ObjectKind.ALERT_RULE,
            "alert-rule-remove",
            right=Right.ADMINISTER,
            button="Remove rule…",
            is_deletion=True,
        ),
    ),
    headers=(ObjectHeader("alert", ObjectKind.ALERT_RULE, "console.signals.alerts.header.facts", "Alerts", "alerts"),),
    reads=(ApiRead("alerts", "alerts", "Alerts that fire, and those that did", after="healing"),),
    forms=(FormsOf("alerts", ("alert-acknowledge", "alert-silence", "alert-test"), is_one_for_all=True),),
    tiers=(
        CollectorTier("alerts", 15.0, "console.signals.alerts.collect.tier"),
        CollectorTier("deliveries", 2.0, "console.signals.alerts.delivery.tier"),
    ),
)
