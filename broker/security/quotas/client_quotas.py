"""The quotas of users and client ids on this broker, and how much of each is used.

What counts for a connection is found once and kept in a `QuotaMeter`. All who are limited by entries that name the same
share one sensor: by a quota for a user whatever its client ids are, by one for a client id whoever says it; a default
gives a sensor to each it stands for. A quota that changes changes the sensors there are (KAFKA-10458); what they hold
stays.

Pure: times are monotonic, in ns.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from broker.common.limits import CLIENT_ID_LENGTH_MAX
from broker.common.security_limits import QUOTA_METERS_MAX, QUOTA_SENSOR_IDLE_S, QUOTA_SENSORS_MAX
from broker.security.membership import MEMBER
from broker.security.quotas.entities import QuotaEntity, candidates
from broker.security.quotas.meter import NOBODY, QuotaMeter
from broker.security.quotas.token_bucket import TokenBucket
from broker.security.quotas.values import QuotaKey
from broker.security.quotas.windows import THROTTLE_MS_MAX, WindowedRate, Windows
from broker.security.sanitized_names import desanitized, sanitized

_NS_PER_S = 1_000_000_000
#: How often it is looked who may be forgotten, when somebody new comes or somebody asks.
_EXPIRY_NS = 60 * _NS_PER_S
#: Of what is recorded, per second. With less a time to wait, with more a sum would be no number; neither is a bound.
_BOUND_MIN, _BOUND_MAX = 1e-9, 1e24

Sensor = WindowedRate | TokenBucket


class Tags(NamedTuple):
    """The key of a shared sensor, sanitized; an empty part matches any client."""

    key: QuotaKey
    user: str
    client_id: str


class QuotaSensor(NamedTuple):
    """A sensor to show: the clients that share it, and the rate beside the bound, in the unit of the quota."""

    key: QuotaKey
    user: str
    client_id: str
    bound: float
    rate: float
    throttled_ms: int
    #: Of connections: whose they are.
    ip: str = ""


class ClientQuotas:
    """One for a broker. `now_ns` everywhere is the moment of the call."""

    def __init__(self, windows: Windows = Windows(), mutation_windows: Windows = Windows()):
        self._windows = windows
        self._mutation_windows = mutation_windows
        self._limits: dict[QuotaEntity, Mapping[QuotaKey, float]] = {}
        #: How many entities have each quota.
        self._set_by_key: Counter[QuotaKey] = Counter()
        self._meters: dict[tuple[str, str], QuotaMeter] = {}
        #: With the entity whose quota is its bound.
        self._sensors: dict[Tags, tuple[Sensor, QuotaEntity]] = {}
        self._expires_ns = 0
        #: Whether there is any quota; while not, nothing is measured.
        self.is_on = False
        self.limits_fetches = False
        self.limits_mutations = False
        self.on_changed: list[Callable[[], None]] = []

    # -- what is configured

    def set(self, entity: QuotaEntity, values: Mapping[QuotaKey, float], now_ns: int) -> None:
        """Set the entity's quotas, which replace earlier ones."""
        if self._limits.get(entity, {}) == values:
            return
        self._set_by_key -= Counter(self._limits.pop(entity, {}).keys())
        if values:
            self._limits[entity] = dict(values)
            self._set_by_key += Counter(values.keys())
        self._adjust(entity, values, now_ns)
        self._forget_meters()
        self.is_on = bool(self._limits)
        self.limits_fetches = self._set_by_key[QuotaKey.CONSUMER_BYTE_RATE] > 0
        self.limits_mutations = self._set_by_key[QuotaKey.CONTROLLER_MUTATION_RATE] > 0
        for listener in self.on_changed:
            listener()

    def entities(self) -> Iterable[QuotaEntity]:
        """Return the entities with quotas."""
        return tuple(self._limits)

    def _adjust(self, entity: QuotaEntity, values: Mapping[QuotaKey, float], now_ns: int) -> None:
        """Adjust the sensors; one whose quota is gone stays, because another quota may now apply to the same
        clients.
        """
        for tags, (sensor, source) in self._sensors.items():
            if source == entity and tags.key in values:
                sensor.set_bound(_bound(tags.key, values[tags.key]), now_ns)

    def _forget_meters(self) -> None:
        for meter in self._meters.values():
            meter.client_id = NOBODY
        self._meters.clear()

    def _limit(self, key: QuotaKey, user: str, client_id: str) -> tuple[QuotaEntity, float] | None:
        for entity in candidates(user, client_id):
            limits = self._limits.get(entity)
            if limits is not None and key in limits:
                return entity, limits[key]
        return None

    # -- what is measured

    def meter_of(self, principal: str, client_id: str, now_ns: int) -> QuotaMeter:
        """Return the meter of a `Type:name` principal; the type is ignored. Cluster members are never limited. Members
        of the cluster are never limited.

        Of a client id that is too long the beginning counts.
        """
        if len(client_id) > CLIENT_ID_LENGTH_MAX:
            return self._new_meter(principal, client_id[:CLIENT_ID_LENGTH_MAX], now_ns)
        meter = self._meters.get((principal, client_id))
        if meter is None:
            meter = self._new_meter(principal, client_id, now_ns)
            if len(self._meters) >= QUOTA_METERS_MAX:
                self._forget_meters()
            self._meters[principal, client_id] = meter
        return meter

    def _new_meter(self, principal: str, client_id: str, now_ns: int) -> QuotaMeter:
        meter = QuotaMeter(client_id)
        if principal != MEMBER:
            user, client = sanitized(principal.partition(":")[2]), sanitized(client_id)
            meter.produce = self._rate(QuotaKey.PRODUCER_BYTE_RATE, user, client, now_ns)
            meter.fetch = self._rate(QuotaKey.CONSUMER_BYTE_RATE, user, client, now_ns)
            meter.request = self._rate(QuotaKey.REQUEST_PERCENTAGE, user, client, now_ns)
            mutation = self._sensor(QuotaKey.CONTROLLER_MUTATION_RATE, user, client, now_ns)
            meter.mutation = mutation if isinstance(mutation, TokenBucket) else None
        return meter

    def _rate(self, key: QuotaKey, user: str, client_id: str, now_ns: int) -> WindowedRate | None:
        sensor = self._sensor(key, user, client_id, now_ns)
        return sensor if isinstance(sensor, WindowedRate) else None

    def _sensor(self, key: QuotaKey, user: str, client_id: str, now_ns: int) -> Sensor | None:
        limit = self._limit(key, user, client_id)
        if limit is None:
            return None
        entity, value = limit
        tags = Tags(key, user if entity.user is not None else "", client_id if entity.client_id is not None else "")
        bound = _bound(key, value)
        sensor, source = self._sensors.get(tags, (None, None))
        if sensor is None:
            if now_ns >= self._expires_ns:
                self.expire(now_ns)
            self._make_room(now_ns)
            sensor = self._new_sensor(key, bound, now_ns)
        elif source != entity:
            sensor.set_bound(bound, now_ns)
        self._sensors[tags] = sensor, entity
        return sensor

    def _new_sensor(self, key: QuotaKey, bound: float, now_ns: int) -> Sensor:
        if key is QuotaKey.CONTROLLER_MUTATION_RATE:
            return TokenBucket(bound, self._mutation_windows, now_ns)
        most_ms = self._windows.size_s * 1000 if key is QuotaKey.REQUEST_PERCENTAGE else THROTTLE_MS_MAX
        return WindowedRate(bound, self._windows, most_ms)

    def _make_room(self, now_ns: int) -> None:
        """Remove sensors beyond the maximum: first those that count nothing any more, then the oldest."""
        if len(self._sensors) >= QUOTA_SENSORS_MAX:
            self._drop([tags for tags, (sensor, _) in self._sensors.items() if sensor.is_as_new(now_ns)])
        if len(self._sensors) >= QUOTA_SENSORS_MAX:
            self._drop(list(self._sensors)[: QUOTA_SENSORS_MAX // 10])

    def expire(self, now_ns: int) -> None:
        """Forget who has not been seen for an hour."""
        self._expires_ns = now_ns + _EXPIRY_NS
        idle_ns = QUOTA_SENSOR_IDLE_S * _NS_PER_S
        self._drop([tags for tags, (sensor, _) in self._sensors.items() if sensor.idle_ns(now_ns) >= idle_ns])

    def _drop(self, dropped: list[Tags]) -> None:
        for tags in dropped:
            del self._sensors[tags]
        if dropped:
            self._forget_meters()

    # -- what is told

    def uses(self, now_ns: int, most: int) -> list[QuotaSensor]:
        """Return the sensors with the largest share of their quota used, at most `most`."""
        self.expire(now_ns)
        uses = [
            QuotaSensor(
                tags.key,
                desanitized(tags.user),
                desanitized(tags.client_id),
                sensor.bound / _scale(tags.key),
                sensor.rate(now_ns) / _scale(tags.key),
                sensor.throttled_ms,
            )
            for tags, (sensor, source) in self._sensors.items()
            if tags.key in self._limits.get(source, {})
        ]
        return sorted(uses, key=lambda use: use.rate / use.bound, reverse=True)[:most]


def _scale(key: QuotaKey) -> float:
    """Return how many recorded units make one of the quota's: a percent of a second has ten million ns."""
    return _NS_PER_S / 100 if key is QuotaKey.REQUEST_PERCENTAGE else 1


def _bound(key: QuotaKey, value: float) -> float:
    return min(max(value * _scale(key), _BOUND_MIN), _BOUND_MAX)
