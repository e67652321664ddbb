"""What clients of one task have in common. Pure."""

from collections.abc import Mapping
from typing import Any


def client_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Where brokers are and who asks, of a producer's or consumer's settings: what an admin client needs."""
    prefixes = ("bootstrap.", "security.", "sasl.", "ssl.", "oauth_cb", "log")
    return {key: value for key, value in settings.items() if key.startswith(prefixes)}
