"""`barnabas diff`: see `broker/cli/declared.py`."""

from broker.cli.declared import diff as main

__all__ = ["main"]
