"""Declares plans of changes, confirmed and taken back."""

from console.kit.features.declaration import Database, Feature

FEATURE = Feature(
    package="console.kit.plans",
    database=Database.CLUSTER,
    template_libraries=("plans",),
    suggested_actions=("change settings",),
)
