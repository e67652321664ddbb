"""Declares operations that take longer than a request."""

from console.kit.features.declaration import Feature

FEATURE = Feature(
    package="console.kit.operations",
    is_app=True,
)
