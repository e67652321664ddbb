"""Declares the owner, labels and description of topics."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.notes",
    database=Database.CLUSTER,
    addresses=(Addresses("topics/", "console.cluster.notes.urls"),),
)
