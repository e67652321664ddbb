"""What comparing two JSON schemas may take, all rounds of it together."""

from broker.common.limits import REGISTRY_COMPARISONS_MAX, REGISTRY_MESSAGES_BYTES_MAX
from broker.registry.errors import InvalidSchema


class ComparisonBudget:
    def __init__(self) -> None:
        self._pairs_left = REGISTRY_COMPARISONS_MAX
        self._bytes_left = REGISTRY_MESSAGES_BYTES_MAX

    def spend_pair(self) -> None:
        self._pairs_left -= 1
        if self._pairs_left < 0:
            raise InvalidSchema("comparing it takes too long: it is combined of too many schemas")

    def spend_bytes(self, count: int) -> None:
        """Of what differs, whenever it is taken to another place: a pair may be met in many."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise InvalidSchema("comparing it takes too long: too many differences")
