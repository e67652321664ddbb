"""Declares the probe and the public status page."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.ecosystem.probe",
    database=Database.CLUSTER,
    addresses=(Addresses("", "console.ecosystem.probe.urls"),),
)
