"""`barnabas export`: see `broker/cli/declared.py`."""

from broker.cli.declared import export as main

__all__ = ["main"]
