"""Who is denied what he asks for, as Prometheus is told it."""

from collections.abc import Iterable

from broker.common.plain_prometheus import CounterMetricFamily, Metric
from broker.runtime.security.authorizer_log import AuthorizerLog


class AuthorizerMetrics:
    def __init__(self, log: AuthorizerLog):
        self._log = log

    def collect(self) -> Iterable[Metric]:
        denials = CounterMetricFamily(
            "barnabas_broker_authorizer_denials", "What was asked and denied.", labels=["principal"]
        )
        for principal, count in self._log.denials.items():
            denials.add_metric([principal], count)
        yield denials
