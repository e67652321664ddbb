"""What failed logins cost who makes them: each further one of an address is answered later, so that guessing is slow.

Only failures wait. Whoever shares the address and knows a password is let in at once.
"""

from collections import OrderedDict

from broker.common.hosts import counted_address
from broker.common.security_limits import (
    FAILED_LOGIN_ADDRESSES_MAX,
    FAILED_LOGIN_DELAY_FACTOR_MAX,
    FAILED_LOGIN_FORGOTTEN_MS,
)

#: A client that is configured wrongly tries again a few times before anybody looks.
_FREE = 3


class FailedLogins:
    """Failed logins of all listeners of a broker. `now_ms` is any clock that does not go back."""

    def __init__(self) -> None:
        #: Address → how many, and when the last; the one longest ago first.
        self._failures: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failures)

    def delay_ms(self, address: str, least_ms: int, now_ms: int) -> int:
        """Note a failed login of `address` and return how long its answer is delayed, `least_ms` for the first."""
        key = counted_address(address)
        count, at_ms = self._failures.pop(key, (0, now_ms))
        count = count + 1 if now_ms - at_ms < FAILED_LOGIN_FORGOTTEN_MS else 1
        self._failures[key] = count, now_ms
        if len(self._failures) > FAILED_LOGIN_ADDRESSES_MAX:
            self._failures.popitem(last=False)
        doublings = min(max(count - _FREE, 0), FAILED_LOGIN_DELAY_FACTOR_MAX.bit_length() - 1)
        return least_ms << doublings
