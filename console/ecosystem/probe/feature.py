"""Declares the probe and the public status page."""

from console.kit.features.api import Read
from console.kit.features.declaration import Addresses, Database, Feature, Link, PushedPage, Section
from console.kit.live import groups

FEATURE = Feature(
    package="console.ecosystem.probe",
    database=Database.CLUSTER,
    addresses=(Addresses("", "console.ecosystem.probe.urls"),),
    links=(Link("Probe", "probe", section=Section.WATCHING, needs=("manages_processes",), process="probe"),),
    pushed_pages=(PushedPage("probe", (groups.PROBE,)),),
    reads=(Read("probe", "probe", "What the probe has measured", after="mirrors"),),
)
