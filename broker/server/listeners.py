"""All listeners of a broker: bound together, started and stopped together."""

import asyncio
from collections.abc import Callable, Iterator

from broker.common.errors import BarnabasError, StartupError
from broker.common.logs import logger
from broker.common.security_protocol import SecurityProtocol
from broker.config.broker import BrokerConfig
from broker.config.definition import ConfigError
from broker.config.listener_settings import ListenerSettings
from broker.config.listeners import ListenerEndpoint
from broker.net.binding import SocketBuffers
from broker.net.connection import Connection
from broker.net.connection_quotas import ConnectionLimits, ConnectionQuotas
from broker.net.listener import Listener, OnFrame
from broker.net.memory import ConnectionMemory
from broker.net.turns import Turns
from broker.server.descriptors import connections_share, connections_within
from broker.server.tls import ListenersTls

_log = logger(__name__)

Equip = Callable[[Listener, ListenerSettings], None]


class Listeners:
    """Binds on construction: all of them or, with StartupError, none. They come and go with the configuration."""

    def __init__(self, config: BrokerConfig, turns: Turns):
        self._config = config
        self._turns = turns
        self.tls = ListenersTls(turns, config.inter_broker_listener)
        self.memory = ConnectionMemory(config.queued_max_request_bytes)
        self.quotas = ConnectionQuotas(ConnectionLimits(config.max_connections), config.inter_broker_listener)
        self._all: dict[str, Listener] = {}
        self._protocols: dict[str, SecurityProtocol] = {}
        self._equipment: list[Equip] = []
        #: Of those that come later.
        self._start_one: Callable[[Listener, SecurityProtocol], None] | None = None
        try:
            self.open_new()
        except BaseException:
            self.stop()
            raise

    def __iter__(self) -> Iterator[Listener]:
        return iter(self._all.values())

    @property
    def connection_count(self) -> int:
        return sum(listener.connection_count for listener in self)

    def start(
        self, loop: asyncio.AbstractEventLoop, on_frame: OnFrame, on_closed: Callable[[Connection], None]
    ) -> None:
        """StartupError if another process, bound at the same moment, was first to listen."""

        def start_one(listener: Listener, protocol: SecurityProtocol) -> None:
            _check_protection(listener, protocol)
            listener.start(loop, on_frame, on_closed)

        for item in self:
            start_one(item, self._protocols[item.name])
        self._start_one = start_one
        self.tls.start()

    def equip(self, equip: Equip) -> None:
        """Prepare each listener, present or added later, before it serves.

        `equip` may set `new_session` and `login`; it raises StartupError if the listener cannot be served.
        """
        self._equipment.append(equip)
        for listener in self:
            equip(listener, self._config.of_listener(listener.name))

    def stop(self) -> None:
        """Idempotent: a second call does nothing."""
        self.tls.stop()
        for listener in self:
            listener.stop()

    def check(self, then: BrokerConfig) -> None:
        """ConfigError if a listener that another configuration adds could not be opened."""
        for endpoint in then.listeners:
            if endpoint.listener in self._all:
                continue
            try:
                self._make(endpoint, then).stop()
            except BarnabasError as error:
                raise ConfigError(str(error)) from error

    def open_new(self) -> None:
        """Open the configured listeners that are not open as configured.

        Failures are logged while the broker runs, and raise StartupError before.
        """
        for endpoint in self._config.listeners:
            name, protocol = endpoint.listener, self._config.of_listener(endpoint.listener).protocol
            if name in self._all and (self._all[name].endpoint, self._protocols[name]) == (endpoint, protocol):
                continue
            self._close(name)
            try:
                self._open(endpoint, protocol)
            except StartupError as error:
                if self._start_one is None:
                    raise
                _log.error("listener not opened", listener=str(endpoint), reason=str(error))

    def close_old(self) -> None:
        """Close replaced listeners with their connections."""
        for name in self._all.keys() - {listener.listener for listener in self._config.listeners}:
            self._close(name)

    def _open(self, endpoint: ListenerEndpoint, protocol: SecurityProtocol) -> None:
        listener = self._make(endpoint, self._config)
        try:
            for equip in self._equipment:
                equip(listener, self._config.of_listener(listener.name))
            if self._start_one is not None:
                self._start_one(listener, protocol)
                _log.info("listener opened", listener=str(endpoint), protocol=str(protocol))
        except StartupError:
            listener.stop()
            raise
        self._all[listener.name] = listener
        self._protocols[listener.name] = protocol

    def _close(self, name: str) -> None:
        listener = self._all.pop(name, None)
        if listener is not None:
            listener.stop("its listener is closed")
            _log.info("listener closed", listener=str(listener.endpoint))

    def limit(self, descriptor_limit: int) -> None:
        """Apply the configured connection limit, as far as there are descriptors; open connections stay."""
        config = self._config
        self.quotas.limits = ConnectionLimits(
            connections_within(descriptor_limit, config.max_connections),
            config.max_connections_per_ip,
            dict(config.max_connections_per_ip_overrides),
            ceiling=connections_share(descriptor_limit),
        )
        self.quotas.creation_rate.change(config.max_connection_creation_rate)
        for listener in self:
            settings = config.of_listener(listener.name)
            listener.connections_max = settings.max_connections
            listener.creation_rate.change(settings.max_connection_creation_rate)

    def _make(self, endpoint: ListenerEndpoint, config: BrokerConfig) -> Listener:
        settings = config.of_listener(endpoint.listener)
        return Listener(
            endpoint,
            frame_bytes_max=config.socket_request_max_bytes,
            idle_ms_max=config.connections_max_idle_ms,
            quotas=self.quotas,
            memory=self.memory,
            turns=self._turns,
            buffers=SocketBuffers(config.socket_send_buffer_bytes, config.socket_receive_buffer_bytes),
            is_ipv6_only=_has_sibling(endpoint, config),
            tls=self.tls.of_listener(settings),
        )


def _has_sibling(endpoint: ListenerEndpoint, config: BrokerConfig) -> bool:
    """Return whether another listener has the same port, for the other family of addresses."""
    return any(listener != endpoint and listener.port == endpoint.port != 0 for listener in config.listeners)


def _check_protection(listener: Listener, protocol: SecurityProtocol) -> None:
    """Check that a listener has the protection its protocol promises, before any client is served."""
    if protocol.has_tls and listener.tls is None:
        raise StartupError(f"listener {listener.name} is {protocol}, and has no TLS")
    if protocol.has_sasl and listener.login is None:
        raise StartupError(f"listener {listener.name} is {protocol}, and has no login")
