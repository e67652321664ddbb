"""Declares read-only mode of the console and of clusters."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.people.readonly",
    addresses=(Addresses("", "console.people.readonly.urls"),),
)
