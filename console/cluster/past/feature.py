"""Declares the cluster as it was at a moment."""

from console.kit.access.places import Place
from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.cluster.past",
    database=Database.CLUSTER,
    addresses=(Addresses("history/at/", "console.cluster.past.urls"),),
    places=(Place("As it was", "past", "time travel history placement then"),),
)
