"""Declares the command palette."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.shell.palette",
    addresses=(Addresses("", "console.shell.palette.urls"),),
)
