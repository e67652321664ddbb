"""Declares the pages of the schema registry."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.cluster.schemas",
    addresses=(Addresses("schemas/", "console.cluster.schemas.urls"),),
)
