"""Declares kept columns, filters and views of lists."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.kit.tables",
    database=Database.CONSOLE,
    addresses=(Addresses("views/", "console.kit.tables.urls"),),
)
