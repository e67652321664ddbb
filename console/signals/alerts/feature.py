"""Declares alerts, their rules and channels."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.signals.alerts",
    database=Database.CLUSTER,
    addresses=(Addresses("alerts/", "console.signals.alerts.urls"),),
)
