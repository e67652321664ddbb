"""The receiver of client metrics: subscriptions, clients and their numbers, as handlers use them."""

from broker.runtime.telemetry.client_instances import ClientInstances
from broker.runtime.telemetry.pushed_metrics import PushedMetrics
from broker.runtime.telemetry.subscriptions import MetricsSubscriptions


class ClientTelemetry:
    """Everything of KIP-714 that a broker keeps, and what it counted."""

    def __init__(self, subscriptions: MetricsSubscriptions):
        self.subscriptions = subscriptions
        self.instances = ClientInstances()
        self.pushed = PushedMetrics()
        #: Requests by what became of them: pushes taken, throttled, with an unknown subscription, not to be read.
        self.pushes = self.throttled = self.unknown_subscriptions = self.unreadable = 0
