"""Declares the frame of all pages and their websocket."""

from console.kit.features.declaration import Feature, PushedPage

FEATURE = Feature(
    package="console.shell.web",
    template_libraries=("navigation",),
    pushed_pages=(PushedPage("other"),),
)
