"""`barnabas drift`: see `broker/cli/declared.py`."""

from broker.cli.declared import drift as main

__all__ = ["main"]
