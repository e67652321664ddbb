"""The features of this console, for what is computed from their declarations."""

from django.conf import settings

from console.kit.features.declaration import Feature


def features() -> tuple[Feature, ...]:
    """Return the declarations in the order of `console/features.py`."""
    return settings.FEATURES
