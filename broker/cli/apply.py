"""`barnabas apply`: see `broker/cli/declared.py`."""

from broker.cli.declared import apply as main

__all__ = ["main"]
