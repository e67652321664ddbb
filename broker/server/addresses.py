"""Where this broker is reached, and where it reaches the others."""

from broker.common.cluster import BrokerEndpoint, BrokerRegistration
from broker.config.broker import BrokerConfig, Endpoint
from broker.net.listener import Listener
from broker.runtime.metadata_cache import MetadataCache


class Addresses:
    """Of the one listener that clients and brokers share."""

    def __init__(self, config: BrokerConfig, listener: Listener, metadata: MetadataCache):
        self._config = config
        self._listener = listener
        self._metadata = metadata

    @property
    def advertised(self) -> tuple[Endpoint, ...]:
        """What clients are told; a listener's port 0 has become the port the system gave."""
        if self._config.advertised_listeners:
            return self._config.advertised_listeners
        return (Endpoint(self._listener.name, self._listener.host, self._listener.port),)

    def registration(self) -> BrokerRegistration:
        endpoints = tuple(BrokerEndpoint(each.listener, each.host, each.port) for each in self.advertised)
        return BrokerRegistration(self._config.broker_id, endpoints, self._config.broker_rack or None)

    def is_ours(self, address: str) -> bool:
        """`address` is "host:port"."""
        return any(address == f"{each.host}:{each.port}" for each in self.advertised)

    def of(self, broker_id: int) -> tuple[str, int] | None:
        """Another broker's, None if it is not known."""
        known = self._metadata.brokers.get(broker_id)
        return known.endpoints.get(self._listener.name) if known else None
