"""Declares alerts, their rules and channels."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.signals.alerts",
    database=Database.CLUSTER,
    addresses=(Addresses("alerts/", "console.signals.alerts.urls"),),
    pushed_pages=(PushedPage("alerts", (groups.ALERTS,), names_all=True),),
)
