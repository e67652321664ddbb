"""Declares the records of a topic."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.cluster.records",
    is_app=True,
    addresses=(Addresses("topics/", "console.cluster.records.urls"),),
)
