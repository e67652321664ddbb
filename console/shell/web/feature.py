"""Declares the frame of all pages and their websocket."""

from console.kit.features.declaration import Feature, PushedPage

FEATURE = Feature(
    package="console.shell.web",
    pushed_pages=(PushedPage("other"),),
)
