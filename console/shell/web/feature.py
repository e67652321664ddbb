"""Declares the frame of all pages and their websocket."""

from console.kit.features.declaration import Feature

FEATURE = Feature(
    package="console.shell.web",
)
