"""Declares the command palette."""

from console.kit.features.declaration import Feature, RouteModule

FEATURE = Feature(
    package="console.shell.palette",
    addresses=(RouteModule("", "console.shell.palette.urls"),),
)
