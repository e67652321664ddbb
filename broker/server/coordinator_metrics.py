"""What Prometheus is told of the coordinators of groups and transactions."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from broker.common.shared_budget import SharedBudget
from broker.runtime.coordinators.group_coordinators import GroupCoordinators
from broker.runtime.coordinators.transaction_coordinators import TransactionCoordinators
from broker.server.coordination import Coordination
from broker.server.metric_families import PREFIX, gauge


class CoordinatorMetrics:
    """Read from the coordinators at each scrape."""

    def __init__(self, coordination: Coordination):
        self._coordination = coordination

    def collect(self) -> Iterable[Metric]:
        groups, transactions = self._coordination.groups, self._coordination.transactions
        led = GaugeMetricFamily(PREFIX + "coordinators", "Coordinator partitions that are served.", labels=["kind"])
        loading = GaugeMetricFamily(
            PREFIX + "coordinators_loading", "Coordinator partitions being loaded.", labels=["kind"]
        )
        not_loaded = GaugeMetricFamily(
            PREFIX + "coordinators_not_loaded",
            "Coordinator partitions led here that could not be loaded so far: what they coordinate stands still.",
            labels=["kind"],
        )
        failures = CounterMetricFamily(
            PREFIX + "coordinator_failures",
            "Requests and timers of coordinators that failed unforeseen.",
            labels=["kind"],
        )
        runtimes: tuple[tuple[str, GroupCoordinators | TransactionCoordinators], ...]
        runtimes = ("group", groups), ("transaction", transactions)
        for kind, runtime in runtimes:
            loaded = len(runtime.loaded_partitions())
            led.add_metric([kind], loaded)
            loading.add_metric([kind], len(runtime) - loaded)
            not_loaded.add_metric([kind], len(runtime.not_loaded))
            failures.add_metric([kind], runtime.failures)
        yield from (led, loading, not_loaded, failures)
        yield gauge("groups", "Consumer groups coordinated.", sum(len(coordinator.groups) for coordinator in groups))
        yield from _budgets("group_memory", "_bytes", "groups", self._coordination.group_memory.budgets())
        yield from _budgets("transactions_held", "", "transactions", transactions.memory.budgets())
        yield gauge(
            "transactional_ids",
            "Transactional ids coordinated.",
            sum(len(coordinator.transactions) for coordinator in transactions),
        )
        yield gauge(
            "transactions_ending",
            "Decided transactions whose partitions do not all have their markers.",
            len(self._coordination.markers),
        )


def _budgets(name: str, unit: str, things: str, budgets: Iterable[tuple[str, SharedBudget]]) -> Iterable[Metric]:
    """Yield metrics of budgets without clients' names: the endpoint has no login."""
    held = GaugeMetricFamily(PREFIX + name + unit, f"What {things} of all clients hold.", labels=["of"])
    size = GaugeMetricFamily(PREFIX + name + "_max" + unit, f"What {things} of all clients may hold.", labels=["of"])
    refused = CounterMetricFamily(
        PREFIX + name + "_refusals",
        f"Requests about {things} refused because their client holds its share.",
        labels=["of"],
    )
    for of, budget in budgets:
        held.add_metric([of], budget.held)
        size.add_metric([of], budget.size)
        refused.add_metric([of], budget.refused)
    return held, size, refused
