"""Declares the overview and health of the cluster."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.signals.overview",
    addresses=(Addresses("", "console.signals.overview.urls"),),
)
