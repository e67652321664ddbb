"""Declares mirrors between clusters."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.ecosystem.mirrors",
    database=Database.CLUSTER,
    addresses=(Addresses("mirrors/", "console.ecosystem.mirrors.urls"),),
)
