"""How a process of the console's learns that it shall end: as processes of the broker's do."""

from broker.common.told_to_stop import told_to_stop

__all__ = ["told_to_stop"]
