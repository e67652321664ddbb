"""Where this broker is reached, and where it reaches the others."""

from broker.common.cluster import BrokerEndpoint, BrokerRegistration
from broker.common.features import SupportedFeature
from broker.config.broker import BrokerConfig
from broker.config.listeners import ListenerEndpoint
from broker.runtime.metadata_cache import MetadataCache
from broker.server.listeners import Listeners


class BrokerAddresses:
    """Addresses of all listeners; brokers reach each other by the inter-broker listener."""

    def __init__(
        self,
        config: BrokerConfig,
        listeners: Listeners,
        metadata: MetadataCache,
        features: tuple[SupportedFeature, ...] = (),
    ):
        self._config = config
        self._features = features
        self._listeners = listeners
        self._metadata = metadata
        #: What members were told, and what before that: who has not heard of a change yet still means us.
        self._announced: tuple[BrokerEndpoint, ...] = ()
        self._announced_before: tuple[BrokerEndpoint, ...] = ()

    @property
    def advertised(self) -> tuple[ListenerEndpoint, ...]:
        """The addresses advertised to clients for open listeners; port 0 is replaced by the actual port."""
        ports = {listener.name: listener.port for listener in self._listeners}
        listeners = self._config.advertised_listeners or self._config.listeners
        return tuple(
            endpoint._replace(port=endpoint.port or ports[endpoint.listener])
            for endpoint in listeners
            if endpoint.listener in ports
        )

    def registration(self) -> BrokerRegistration:
        """Return the registration of this broker for the members of the cluster."""
        endpoints = tuple(
            BrokerEndpoint(
                endpoint.listener,
                endpoint.host,
                endpoint.port,
                self._config.of_listener(endpoint.listener).protocol.name,
            )
            for endpoint in self.advertised
        )
        if endpoints != self._announced:
            self._announced, self._announced_before = endpoints, self._announced
        rack = self._config.broker_rack or None
        return BrokerRegistration(self._config.broker_id, endpoints, rack, features=self._features)

    def is_ours(self, address: str) -> bool:
        """Return whether `address`, "host:port", belongs to this broker, by any listener."""
        return any(
            address == f"{endpoint.host}:{endpoint.port}" for endpoint in (*self._announced, *self._announced_before)
        )

    def of(self, broker_id: int) -> tuple[str, int] | None:
        """Return another broker's address, None if it is unknown."""
        known = self._metadata.brokers.get(broker_id)
        return known.endpoints.get(self._config.inter_broker_listener) if known else None
