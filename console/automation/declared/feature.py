"""Declares the cluster as files declare it."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.automation.declared",
    addresses=(Addresses("declaration/", "console.automation.declared.urls"),),
)
