"""Declares accounts, roles and rights."""

from console.kit.features.declaration import Database, Feature

FEATURE = Feature(
    package="console.kit.access",
    database=Database.CONSOLE,
    template_libraries=("rights",),
)
