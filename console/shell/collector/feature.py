"""Declares the collector, which reads the cluster."""

from console.kit.features.declaration import Feature

FEATURE = Feature(
    package="console.shell.collector",
    is_app=True,
)
