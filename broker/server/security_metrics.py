"""The metrics of a broker's security: denials, logins, quotas and the certificates that listeners show."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from broker.common.clock import Clock
from broker.config.broker import BrokerConfig
from broker.runtime.security.authorizer_log import AuthorizerLog
from broker.runtime.security.quotas import Quotas
from broker.server.metric_families import PREFIX, counter, gauge
from broker.server.tls import ListenersTls
from broker.server.waiting_room import WaitingRoom

#: In place of each principal's name.
ALL = "all"
_QUOTA = f"{PREFIX}quota_"
_QUOTA_LABELS = ["quota", "user", "client_id"]


def has_names(config: BrokerConfig) -> bool:
    """Return whether /metrics, which asks for no login, names topics and principals: rules may hide them from who
    asks.
    """
    enabled = config.metrics_names_enable
    return not config.authorizer_class_name if enabled is None else enabled


class AuthorizerMetrics:
    def __init__(self, log: AuthorizerLog, *, has_names: bool):
        self._log, self._has_names = log, has_names

    def collect(self) -> Iterable[Metric]:
        denials = CounterMetricFamily(PREFIX + "authorizer_denials", "Denied operations.", labels=["principal"])
        counts = self._log.denials if self._has_names else {ALL: sum(self._log.denials.values())}
        for principal, count in counts.items():
            denials.add_metric([principal], count)
        yield denials


class LoginMetrics:
    """Read from the waiting room at each scrape."""

    def __init__(self, room: WaitingRoom):
        self._room = room

    def collect(self) -> Iterable[Metric]:
        room = self._room
        yield gauge("logins_waiting", "Connections that have not logged in.", room.count)
        for name, what, value in (
            ("logins", "Logins that succeeded.", room.succeeded),
            ("failed_logins", "Logins that failed, or took too long.", room.failed),
            ("expired_sessions", "Connections closed because their login had ended (KIP-368).", room.expired),
        ):
            yield counter(name, what, value)


class QuotaMetrics:
    """The users and client ids nearest to their bounds, so that made-up client ids do not fill a scrape."""

    def __init__(self, quotas: Quotas):
        self._quotas = quotas

    def collect(self) -> Iterable[Metric]:
        bounds = GaugeMetricFamily(_QUOTA + "limit", "What a user or client id may use.", labels=_QUOTA_LABELS)
        rates = GaugeMetricFamily(
            _QUOTA + "rate", "What it has used lately, in the quota's unit.", labels=_QUOTA_LABELS
        )
        throttled = CounterMetricFamily(_QUOTA + "throttled_ms", "Throttle time returned to it.", labels=_QUOTA_LABELS)
        for use in self._quotas.uses():
            labels = [str(use.key), use.user, use.client_id]
            bounds.add_metric(labels, use.bound)
            rates.add_metric(labels, use.rate)
            throttled.add_metric(labels, use.throttled_ms)
        yield from (bounds, rates, throttled)
        yield CounterMetricFamily(
            _QUOTA + "connections_held_ms",
            "What connections beyond their address's rate were held before they were closed.",
            value=self._quotas.addresses.throttled_ms(),
        )


class CertificateMetrics:
    """Read from the listeners' TLS at each scrape."""

    def __init__(self, tls: ListenersTls, clock: Clock):
        self._tls = tls
        self._clock = clock

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return the family without samples, so that it can be requested by name."""
        yield GaugeMetricFamily(
            PREFIX + "certificate_ends_in_seconds",
            "Until the certificate of a listener ends; below 0: it has.",
            labels=["listener"],
        )

    def collect(self) -> Iterable[Metric]:
        (family,) = self.describe()
        now_s = self._clock.now_ms() / 1000
        for listener, ends in self._tls.ends_of_certificates():
            family.add_metric([listener], ends.timestamp() - now_s)
        yield family
