"""Declares self-healing and its proposals."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.automation.healing",
    database=Database.CLUSTER,
    addresses=(Addresses("healing/", "console.automation.healing.urls"),),
)
