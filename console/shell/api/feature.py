"""Declares the API and its tokens."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.shell.api",
    addresses=(Addresses("", "console.shell.api.urls"),),
)
