"""Connectors of other products: their class names and settings, and which of ours they are."""

from broker.connect.plugins.compatible.connectors import advice_for, own_class
from broker.connect.plugins.compatible.translation import ConfigTranslation, rename_to_source_keys, translate

__all__ = ["ConfigTranslation", "advice_for", "own_class", "rename_to_source_keys", "translate"]
