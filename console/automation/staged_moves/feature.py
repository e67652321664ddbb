"""Declares moves of partitions in batches."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.automation.staged_moves",
    database=Database.CLUSTER,
    addresses=(Addresses("placement/+staged/", "console.automation.staged_moves.urls"),),
    template_libraries=("staged_moves",),
)
