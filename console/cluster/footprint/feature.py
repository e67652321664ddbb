"""Declares the console's own requests to brokers."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.cluster.footprint",
    addresses=(Addresses("footprint/", "console.cluster.footprint.urls"),),
)
