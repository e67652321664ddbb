"""Declares changes that wait for approval or a window."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.shell.changes",
    database=Database.CLUSTER,
    addresses=(Addresses("changes/", "console.shell.changes.urls"),),
)
