"""Declares the graph of what reads and writes topics."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.signals.dependencies",
    addresses=(Addresses("dependencies/", "console.signals.dependencies.urls"),),
)
