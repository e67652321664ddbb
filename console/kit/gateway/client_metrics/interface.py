"""The words for subscriptions to client metrics (KIP-714)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ClientMetricsSubscription:
    """Clients that match push metrics to the brokers.

    `own` are the settings that the subscription itself has, `settings` all of them with their defaults, by Kafka's
    keys: `interval.ms`, `metrics` (prefixes of names, separated by commas) and `match` (`client_id=regex`, …).
    """

    name: str
    own: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


class ClientMetricsGateway(Protocol):
    def subscriptions(self) -> tuple[ClientMetricsSubscription, ...]:
        """Return all of them by name.

        Raises RefusedError UNSUPPORTED_VERSION where brokers serve no client metrics, GatewayError.
        """
        ...

    def check(self, name: str, changes: Mapping[str, str | None]) -> None:
        """Validate a change with the cluster without making it. Raises RefusedError with its reason, GatewayError."""
        ...

    def change(self, name: str, changes: Mapping[str, str | None]) -> None:
        """Set the named settings, None removes one; the subscription goes with its last setting.

        Raises GatewayError.
        """
        ...
