"""A connection to another broker: one request at a time, answered or failed. For the control plane, where order counts
more than rate.
"""

import asyncio
from collections.abc import Callable
from itertools import count

from broker.common.cluster import LiveBroker
from broker.common.errors import ProtocolError
from broker.net.dialer import Dialer, PeerUnreachable, reason_of
from broker.net.peer_connection import PeerConnection
from broker.protocol.codec import decode, encode
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import AnyResponse, response_type
from broker.protocol.schema import Request

#: An answer on the control plane names partitions; a peer that announces more than this is not a broker.
RESPONSE_BYTES_MAX = 64 * 1024 * 1024


def connection_to(dialer: Dialer, broker: LiveBroker, listener: str, client_id: str) -> "OutboundConnection":
    """Return an unconnected connection to the broker's listener of that name. PeerUnreachable if it has none."""
    endpoint = broker.registration.endpoint(listener)
    if endpoint is None:
        raise PeerUnreachable(f"broker {broker.broker_id} advertises no listener {listener}")
    return OutboundConnection(dialer.by(listener), endpoint.host, endpoint.port, client_id)


class OutboundConnection:
    """A connection of this process to a broker. After any error it is closed; `connect` opens it anew."""

    def __init__(self, dialer: Dialer, host: str, port: int, client_id: str):
        self._dialer = dialer
        self._host = host
        self._port = port
        self._client_id = client_id
        self._correlation_ids = count()
        self._line: PeerConnection | None = None
        self._turn = asyncio.Lock()

    @property
    def is_connected(self) -> bool:
        return self._line is not None

    async def connect(self, timeout_ms: int) -> None:
        """Raises PeerUnreachable. Does nothing when connected."""
        if self.is_connected:
            return
        self._line = await self._dialer.dial(self._host, self._port, timeout_ms)

    async def request(self, message: Request[AnyResponse], version: int, timeout_ms: int) -> AnyResponse:
        """Return the response. Raises PeerUnreachable, or ProtocolError when the answer cannot be read."""
        async with self._turn:
            line = self._line
            if line is None:
                raise PeerUnreachable(f"not connected to {self._host}:{self._port}")
            try:
                async with asyncio.timeout(timeout_ms / 1000):
                    return await self._exchange(message, version, line)
            except (OSError, TimeoutError, EOFError) as error:
                self.close()
                reason = f"{self._host}:{self._port} did not answer {message.api.name}: {reason_of(error)}"
                raise PeerUnreachable(reason) from error
            except BaseException:
                # Cancelled or garbled in the middle: the next answer would be taken for this one's.
                self.close()
                raise

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
        self._line = None

    async def _exchange(self, message: Request[AnyResponse], version: int, line: PeerConnection) -> AnyResponse:
        correlation_id = next(self._correlation_ids) & 0x7FFFFFFF
        header = encode_request_header(RequestHeader(message.api, version, correlation_id, self._client_id))
        body = encode(message, version)
        await line.send((len(header) + len(body)).to_bytes(SIZE_BYTES) + header + body)
        size = int.from_bytes(await line.receive(SIZE_BYTES), signed=True)
        if not 0 <= size <= RESPONSE_BYTES_MAX:
            raise ProtocolError(f"{self._host}:{self._port} announces an answer of {size} bytes")
        frame = memoryview(await line.receive(size))
        answered_id, at = decode_response_header(message.api, version, frame)
        if answered_id != correlation_id:
            raise ProtocolError(f"{self._host}:{self._port} answers request {answered_id} instead of {correlation_id}")
        return decode(response_type(message), frame[at:], version)


class RelocatableConnection:
    """A connection to one broker where it is now: it is opened anew once the broker has another address."""

    def __init__(
        self, dialer: Dialer, broker_id: int, address_of: Callable[[], tuple[str, int] | None], client_id: str
    ):
        """`address_of` returns host and port of the broker, None while they are not known."""
        self._dialer = dialer
        self._broker_id = broker_id
        self._address_of = address_of
        self._client_id = client_id
        self._address: tuple[str, int] | None = None
        self._connection: OutboundConnection | None = None

    async def request(
        self, message: Request[AnyResponse], version: int, connect_timeout_ms: int, timeout_ms: int
    ) -> AnyResponse:
        """Return the response. Raises PeerUnreachable, or ProtocolError when the response cannot be read."""
        address = self._address_of()
        if address is None:
            raise PeerUnreachable(f"the address of broker {self._broker_id} is not known")
        connection = self._connection
        if connection is None or address != self._address:
            self.close()
            self._address = address
            self._connection = connection = OutboundConnection(self._dialer, *address, self._client_id)
        await connection.connect(connect_timeout_ms)
        return await connection.request(message, version, timeout_ms)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
