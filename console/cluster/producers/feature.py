"""Declares the producers and transactions of a topic."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.cluster.producers",
    addresses=(Addresses("topics/", "console.cluster.producers.urls"),),
)
