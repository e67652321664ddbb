"""Who is denied what he asks for, as Prometheus is told it."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, Metric

from broker.config.broker import BrokerConfig
from broker.runtime.security.authorizer_log import AuthorizerLog

#: In place of each principal's name.
ALL = "all"


def has_names(config: BrokerConfig) -> bool:
    """Whether /metrics, which asks for no login, names topics and principals: rules may hide them from who asks."""
    said = config.metrics_names_enable
    return not config.authorizer_class_name if said is None else said


class AuthorizerMetrics:
    def __init__(self, log: AuthorizerLog, *, has_names: bool):
        self._log, self._has_names = log, has_names

    def collect(self) -> Iterable[Metric]:
        denials = CounterMetricFamily(
            "barnabas_broker_authorizer_denials", "What was asked and denied.", labels=["principal"]
        )
        counts = self._log.denials if self._has_names else {ALL: sum(self._log.denials.values())}
        for principal, count in counts.items():
            denials.add_metric([principal], count)
        yield denials
