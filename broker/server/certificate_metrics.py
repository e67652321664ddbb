"""What Prometheus is told of the certificates that listeners show."""

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily, Metric

from broker.common.clock import Clock
from broker.server.tls import ListenersTls

_NAME = "barnabas_broker_certificate_ends_in_seconds"


class CertificateMetrics:
    """Read from the listeners' TLS when somebody asks."""

    def __init__(self, tls: ListenersTls, clock: Clock):
        self._tls = tls
        self._clock = clock

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """By which it can be asked for alone."""
        yield GaugeMetricFamily(
            _NAME, "Until the certificate of a listener ends; below 0: it has.", labels=["listener"]
        )

    def collect(self) -> Iterable[Metric]:
        (family,) = self.describe()
        now_s = self._clock.now_ms() / 1000
        for listener, ends in self._tls.ends_of_certificates():
            family.add_metric([listener], ends.timestamp() - now_s)
        yield family
