"""What mirrors say of their work, in the words of who writes it."""

from broker.mirror.status import STATUS_TOPIC, Status, understood

__all__ = ["STATUS_TOPIC", "Status", "understood"]
