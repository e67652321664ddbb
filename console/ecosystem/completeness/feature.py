"""Declares the message audit by time windows."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.ecosystem.completeness",
    database=Database.CLUSTER,
    addresses=(Addresses("completeness/", "console.ecosystem.completeness.urls"),),
)
