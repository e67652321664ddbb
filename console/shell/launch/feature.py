"""Declares the start and stop of the console's services."""

from console.kit.features.declaration import Feature

FEATURE = Feature(
    package="console.shell.launch",
    is_app=True,
)
