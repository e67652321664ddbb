"""The lists of all features whose columns, rows and filters a person may keep, by the names of their routes."""

from console.kit.features.listed import features

TABLES = {table.name: table for feature in features() for table in feature.tables}
