"""Declares the probe and the public status page."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.ecosystem.probe",
    database=Database.CLUSTER,
    addresses=(Addresses("", "console.ecosystem.probe.urls"),),
    pushed_pages=(PushedPage("probe", (groups.PROBE,)),),
)
