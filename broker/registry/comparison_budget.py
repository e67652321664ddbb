"""What comparing two schemas may take, of any kind and in all rounds together: both are a client's.

Names are looked up and pairs compared once, so that a comparison costs what its schemas are long. What multiplies even
so is refused here.
"""

from broker.common.limits import REGISTRY_COMPARISON_STEPS_MAX, REGISTRY_MESSAGES_BYTES_MAX
from broker.registry.errors import InvalidSchema


class ComparisonBudget:
    """Steps (pairs of types, fields, branches, symbols: up to 10 microseconds each) and bytes of differences."""

    def __init__(self) -> None:
        self._steps_left = REGISTRY_COMPARISON_STEPS_MAX
        self._bytes_left = REGISTRY_MESSAGES_BYTES_MAX

    def spend_steps(self, count: int) -> None:
        """Raises InvalidSchema where no steps are left."""
        self._steps_left -= count
        if self._steps_left < 0:
            raise InvalidSchema("comparing it takes too long: it is combined of too many schemas")

    def spend_bytes(self, count: int) -> None:
        """Charge bytes of a difference. Raises InvalidSchema when the budget is used up."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise InvalidSchema("comparing it takes too long: too many differences")
