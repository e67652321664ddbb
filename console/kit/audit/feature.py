"""Declares the audit of what people did."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.kit.audit",
    database=Database.CONSOLE,
    addresses=(Addresses("audit/", "console.kit.audit.urls"),),
)
