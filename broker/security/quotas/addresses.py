"""How many connections an address may open per second (KIP-612). Pure: times are monotonic, in ns."""

from broker.common.security_limits import QUOTA_SENSOR_IDLE_S, QUOTA_SENSORS_MAX
from broker.security.quotas.client_quotas import QuotaSensor
from broker.security.quotas.values import QuotaKey
from broker.security.quotas.windows import WindowedRate, Windows

_NS_PER_S = 1_000_000_000
#: How often it is looked who may be forgotten, when somebody new comes.
_EXPIRY_NS = 60 * _NS_PER_S


class AddressQuotas:
    """Addresses are as sockets give them, v4 in v6 as v4."""

    def __init__(self, windows: Windows = Windows()):
        self._windows = windows
        self._default: float | None = None
        self._limits: dict[str, float] = {}
        self._rates: dict[str, WindowedRate] = {}
        self._expires_ns = 0
        #: Whether there is any quota; while not, nothing is measured.
        self.is_on = False

    def set(self, address: str | None, rate: float | None, now_ns: int) -> None:
        """Set an address's connections per second; None: for each address without its own quota. No rate is no
        bound.
        """
        if address is None:
            self._default = rate
        elif rate is None:
            self._limits.pop(address, None)
        else:
            self._limits[address] = rate
        self.is_on = self._default is not None or bool(self._limits)
        for known, sensor in list(self._rates.items()):
            limit = self._limit(known)
            if limit is None:
                del self._rates[known]
            elif limit > 0:
                sensor.set_bound(limit, now_ns)

    def admit(self, address: str, now_ns: int) -> int:
        """Return 0 if the connection may be served; else for how many ms to hold it before it is closed.

        A connection that is not served does not count.
        """
        limit = self._limit(address)
        if limit is None:
            return 0
        if limit == 0:
            return self._windows.size_s * 1000
        sensor = self._rates.get(address)
        if sensor is None:
            if now_ns >= self._expires_ns:
                self.expire(now_ns)
            self._make_room(now_ns)
            sensor = self._rates[address] = WindowedRate(limit, self._windows, self._windows.size_s * 1000)
        delay_ms = sensor.record(1, now_ns)
        if delay_ms:
            sensor.take_back(1, now_ns)
        return delay_ms

    def throttled_ms(self) -> int:
        """Return how long connections were held in all, of remembered addresses."""
        return sum(sensor.throttled_ms for sensor in self._rates.values())

    def uses(self, now_ns: int, most: int) -> list[QuotaSensor]:
        """Return the addresses that have used the largest share of what they may, at most so many."""
        self.expire(now_ns)
        key = QuotaKey.CONNECTION_CREATION_RATE
        uses = [
            QuotaSensor(key, "", "", sensor.bound, sensor.rate(now_ns), sensor.throttled_ms, ip)
            for ip, sensor in self._rates.items()
            if self._limit(ip)
        ]
        return sorted(uses, key=lambda use: use.rate / use.bound, reverse=True)[:most]

    def expire(self, now_ns: int) -> None:
        """Forget who has not been seen for an hour."""
        self._expires_ns = now_ns + _EXPIRY_NS
        idle_ns = QUOTA_SENSOR_IDLE_S * _NS_PER_S
        self._rates = {key: item for key, item in self._rates.items() if item.idle_ns(now_ns) < idle_ns}

    def _limit(self, address: str) -> float | None:
        return self._limits.get(address, self._default)

    def _make_room(self, now_ns: int) -> None:
        if len(self._rates) >= QUOTA_SENSORS_MAX:
            self._rates = {key: item for key, item in self._rates.items() if not item.is_as_new(now_ns)}
        if len(self._rates) >= QUOTA_SENSORS_MAX:
            for address in list(self._rates)[: QUOTA_SENSORS_MAX // 10]:
                del self._rates[address]
