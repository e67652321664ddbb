"""What the log says of those who are refused: the first at once, then one line for all that came meanwhile."""

from broker.common.clock import Clock
from broker.common.limits import REFUSALS_LOGGED_EVERY_S
from broker.common.logs import logger
from broker.protocol.api_keys import ApiKey

_log = logger(__name__)


class Refusals:
    """Of one broker."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._count = 0
        self._logged_at_ms: int | None = None

    def note(self, peer: str, api: ApiKey, reason: str) -> None:
        self._count += 1
        now_ms = self._clock.monotonic_ms()
        if self._logged_at_ms is None or now_ms - self._logged_at_ms >= 1000 * REFUSALS_LOGGED_EVERY_S:
            _log.warning("requests refused", last_peer=peer, last_api=api.name, reason=reason, count=self._count)
            self._logged_at_ms, self._count = now_ms, 0
