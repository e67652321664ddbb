"""Subscriptions to client metrics in memory: not served, as by Barnabas brokers, until a test says otherwise."""

from collections.abc import Mapping
from typing import Protocol

from broker.common.errors import ErrorCode
from console.kit.gateway.client_metrics.interface import ClientMetricsSubscription
from console.kit.gateway.client_metrics.kafka import NOT_SERVED
from console.kit.gateway.errors import refusal

_DEFAULTS = {"interval.ms": "300000", "metrics": "", "match": ""}


class FakeCluster(Protocol):
    def alive_brokers(self) -> list[int]: ...


class FakeClientMetrics:
    def __init__(self, cluster: FakeCluster):
        self._cluster = cluster
        self.are_served = False
        self.own: dict[str, dict[str, str]] = {}

    def subscriptions(self) -> tuple[ClientMetricsSubscription, ...]:
        self._require_served()
        return tuple(ClientMetricsSubscription(name, own, _DEFAULTS | own) for name, own in sorted(self.own.items()))

    def check(self, name: str, changes: Mapping[str, str | None]) -> None:
        """As Kafka: a known key, and an interval of 100 ms to an hour."""
        self._require_served()
        for key, value in changes.items():
            if key not in _DEFAULTS:
                raise refusal(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {key}")
            if key == "interval.ms" and value is not None and not 100 <= int(value) <= 3_600_000:
                raise refusal(ErrorCode.INVALID_REQUEST, f"Invalid value {value} for interval.ms")

    def change(self, name: str, changes: Mapping[str, str | None]) -> None:
        self.check(name, changes)
        merged = {**self.own.get(name, {}), **changes}
        self.own[name] = {key: value for key, value in merged.items() if value is not None}
        if not self.own[name]:
            del self.own[name]

    def _require_served(self) -> None:
        self._cluster.alive_brokers()
        if not self.are_served:
            raise refusal(ErrorCode.UNSUPPORTED_VERSION, NOT_SERVED)
