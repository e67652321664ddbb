"""Declares drills that inject a fault on purpose."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.automation.drill",
    database=Database.CLUSTER,
    addresses=(Addresses("drills/", "console.automation.drill.urls"),),
)
