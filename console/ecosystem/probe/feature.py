"""Declares the probe and the public status page."""

from console.kit.features.api import ApiRead
from console.kit.features.declaration import Database, Feature, PageLink, PushedPage, RouteModule, SidebarEntry
from console.kit.features.tier import CollectorTier

#: The probe's page, told that there is a new minute, or that something is another way now.
LIVE_GROUP = "probe"

FEATURE = Feature(
    package="console.ecosystem.probe",
    database=Database.CLUSTER,
    addresses=(RouteModule("", "console.ecosystem.probe.urls"),),
    links=(PageLink("Probe", "probe", entry=SidebarEntry.MESSAGE_CHECKS, needs=("runs_processes",), process="probe"),),
    pushed_pages=(PushedPage("probe", (LIVE_GROUP,)),),
    reads=(ApiRead("probe", "probe", "What the probe has measured", after="mirrors"),),
    tiers=(CollectorTier("probe", 2.0, "console.ecosystem.probe.collect.tier"),),
)
