"""Declares the processes that the console runs."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.processes",
    database=Database.CLUSTER,
    addresses=(Addresses("processes/", "console.processes.urls"),),
)
