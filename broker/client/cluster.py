"""A cluster as a client sees it: found through any of its brokers, each partition asked at its leader."""

import time
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from broker.client.connection import BrokerConnection
from broker.client.errors import ApiNotServed, BrokerUnreachable, NotTrusted, UnreadableAnswer
from broker.common.errors import ApiError, BarnabasError, ErrorCode, ProtocolError
from broker.protocol.messages import AnyResponse
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from broker.protocol.schema import Request

if TYPE_CHECKING:
    from broker.client.security.properties import ClientSecurity

_LOOK_AGAIN_S = 0.2


class ClusterConnections:
    """Connections are made when needed and kept until `close`; use it in a `with` block, on one thread."""

    def __init__(
        self,
        bootstrap_servers: Iterable[tuple[str, int]],
        *,
        timeout_s: float = 10.0,
        client_id: str = "barnabas",
        security: "ClientSecurity | None" = None,
    ):
        self._bootstrap_servers = tuple(bootstrap_servers)
        self._timeout_s = timeout_s
        self._client_id = client_id
        self._security = security
        self._connections: dict[tuple[str, int], list[BrokerConnection]] = {}

    def __enter__(self) -> "ClusterConnections":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        for address in list(self._connections):
            self.forget(*address)

    def describe_topics(self, names: Collection[str] | None, *, creates: bool = False) -> MetadataResponse:
        """Describe topics, or all there are (None); missing ones are created only where brokers do so and `creates`
        lets them.

        Raises BrokerUnreachable.
        """
        topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=creates)
        return self.ask_any(request)

    def ask_any(self, request: Request[AnyResponse], *, version_max: int = 0x7FFF) -> AnyResponse:
        """Send a request that every broker can answer to the first reachable one. Raises BrokerUnreachable if none does
        (one that is not understood is an UnreadableAnswer), ApiNotServed if one was reached and does not serve it,
        NotTrusted if all are of no trust, and LoginRefused as soon as one says so: the next would count the same
        wrong password.
        """
        failures: list[BarnabasError] = []
        for address in self._bootstrap_servers:
            try:
                return self.connection(*address).ask(request, version_max=version_max)
            except (BrokerUnreachable, ProtocolError, ApiNotServed, NotTrusted) as error:
                self.forget(*address)
                failures.append(error)
        not_served = next((error for error in failures if isinstance(error, ApiNotServed)), None)
        are_untrusted = bool(failures) and all(isinstance(error, NotTrusted) for error in failures)
        reason = "; ".join(map(str, failures)) or "no broker is named"
        if not_served or are_untrusted:
            raise not_served or NotTrusted(reason)
        is_garbled = any(isinstance(error, ProtocolError) for error in failures)
        raise UnreadableAnswer(reason) if is_garbled else BrokerUnreachable(reason)

    def ask_controller(self, request: Request[AnyResponse]) -> AnyResponse:
        """Send a request to the controller. Any broker passes some of it on; all are told it where it is done.

        One that has died is taken for the controller as long as its session lasts: while none can be reached, it is
        looked for again until the timeout. What was sent is never sent again.

        Raises BrokerUnreachable, ApiNotServed, ApiError(NOT_CONTROLLER) when none is elected.
        """
        return self._controller().ask(request)

    def _controller(self) -> BrokerConnection:
        deadline = time.monotonic() + self._timeout_s
        while True:
            metadata = self.describe_topics([])
            addresses = {broker.node_id: (broker.host, broker.port) for broker in metadata.brokers}
            try:
                if metadata.controller_id not in addresses:
                    raise ApiError(ErrorCode.NOT_CONTROLLER, "no controller is elected at the moment; try again")
                return self.connection(*addresses[metadata.controller_id])
            except (ApiError, BrokerUnreachable):
                if time.monotonic() >= deadline:
                    raise
                time.sleep(_LOOK_AGAIN_S)

    def ask_broker(self, broker_id: int, request: Request[AnyResponse], *, version_max: int = 0x7FFF) -> AnyResponse:
        """Raises BrokerUnreachable, also when the cluster has no such broker; ApiNotServed."""
        address = self.brokers().get(broker_id)
        if address is None:
            raise BrokerUnreachable(f"broker {broker_id} is not alive, or there is none")
        return self.connection(*address).ask(request, version_max=version_max)

    def brokers(self) -> dict[int, tuple[str, int]]:
        """Return id → address of live brokers. Raises BrokerUnreachable."""
        return {broker.node_id: (broker.host, broker.port) for broker in self.describe_topics([]).brokers}

    def connection(self, host: str, port: int, *, in_order: bool = False) -> BrokerConnection:
        """Return a connection on which no response is awaited: brokers answer a connection in order, and a fetch may
        wait there for long.

        in_order: for requests that the broker has to read in the order in which they are sent, while responses to
        earlier ones are awaited: always the same one, as long as it is open.

        Raises BrokerUnreachable, ProtocolError, NotTrusted, LoginRefused, ClientConfigError.
        """
        kept = [connection for connection in self._connections.get((host, port), ()) if connection.fileno() >= 0]
        self._connections[host, port] = kept
        usable = next((connection for connection in kept if in_order or connection.is_at_rest), None)
        if usable is None:
            usable = BrokerConnection(
                host,
                port,
                timeout_s=self._timeout_s,
                client_id=self._client_id,
                security=self._security,
            )
            kept.append(usable)
        return usable

    def forget(self, host: str, port: int) -> None:
        """Close the connections to the broker, as one is broken: the next use makes a new one."""
        for connection in self._connections.pop((host, port), ()):
            connection.close()


def parse_bootstrap_servers(text: str) -> tuple[tuple[str, int], ...]:
    """Parse host:port, comma separated, each with or without a protocol before it (PLAINTEXT://host:port), which is
    ignored, as in Java's clients. ApiError INVALID_REQUEST with one sentence for anything else.
    """
    servers = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        host, _, port = part.rpartition("://")[2].rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"{part!r} is not host:port")
        servers.append((host.strip("[]"), int(port)))
    return tuple(servers)
