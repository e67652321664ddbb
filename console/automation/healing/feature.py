"""Declares self-healing and its proposals."""

from console.kit.access.places import PagePlace
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import Database, Feature, FormsOf, PageLink, PushedPage, RouteModule, SidebarEntry
from console.kit.features.tier import CollectorTier

#: The pages of self-healing, told that the queue is another.
LIVE_GROUP = "healing"

FEATURE = Feature(
    package="console.automation.healing",
    database=Database.CLUSTER,
    addresses=(RouteModule("healing/", "console.automation.healing.urls"),),
    links=(
        PageLink("Self-healing", "healing", entry=SidebarEntry.SERVICES, needs=("sees_all_names",), after="processes"),
    ),
    places=(PagePlace("Self-healing", "healing", "proposals anomalies repair automatic", names_all=True),),
    pushed_pages=(PushedPage("healing", (LIVE_GROUP,), names_all=True),),
    reads=(
        ApiRead(
            "healing", "healing", "What self-healing proposes, and what became of that", after="drills/{int:number}"
        ),
    ),
    actions=(
        ApiAction(
            "confirm-healing",
            "healing-proposal",
            "Carry out what self-healing proposes",
            path=("number",),
            after="add-broker",
        ),
        ApiAction(
            "set-healing",
            "healing-rule",
            "Say how far a kind of trouble heals itself: `mode` off, propose or act",
            path=("kind",),
            form=("mode", "minutes", "limit", "rate"),
        ),
    ),
    forms=(FormsOf("healing-proposal", ("healing-dismiss",)),),
    tiers=(CollectorTier("healing", 10.0, "console.automation.healing.collect.tier"),),
)
