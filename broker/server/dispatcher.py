"""From a frame to a handler and back: the one place that decides what a bad request gets.

Unknown API or version, a header or body that cannot be read: the connection is closed, as Kafka closes it, and one log
line says who and why. An ApiVersions request of an unknown version is answered in version 0 (KIP-511).
"""

import asyncio

from broker.common.errors import BarnabasError, ProtocolError
from broker.common.limits import STRUCTURED_REQUEST_BYTES_MAX
from broker.common.logs import logger
from broker.handlers.api_versions import unsupported_version_response
from broker.handlers.handler import CloseConnectionError, Handler, Reply, RequestContext, Services
from broker.handlers.registry import HANDLERS
from broker.net.connection import Connection, Slot
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode_parts
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import RequestHeader, decode_request_header, encode_response_header
from broker.protocol.messages import MESSAGES
from broker.protocol.schema import Message
from broker.server.metrics import RequestMetrics

_log = logger(__name__)


class _BadRequest(ProtocolError):
    """The client's fault, unlike the ProtocolError of an answer that cannot be encoded."""


class Dispatcher:
    """Turns the frames of all connections into responses."""

    def __init__(self, services: Services, listener_name: str, metrics: RequestMetrics):
        self._services = services
        self._listener_name = listener_name
        self._metrics = metrics
        self._handlers: dict[int, Handler] = {handler.api: handler for handler in HANDLERS}
        self._tasks: dict[Connection, set[asyncio.Task]] = {}

    def on_frame(self, connection: Connection, frame: memoryview) -> None:
        try:
            header, body_at = decode_request_header(frame)
        except ProtocolError as error:
            self._reject(connection, error)
            return
        slot = connection.reserve()
        try:
            self._handle(connection, slot, header, frame, body_at)
        except (_BadRequest, CloseConnectionError) as error:
            self._reject(connection, error)
        except Exception:
            self._fail(connection, header)

    def _handle(
        self, connection: Connection, slot: Slot, header: RequestHeader, frame: memoryview, body_at: int
    ) -> None:
        handler = self._handlers.get(header.api_key)
        if handler is None or not handler.served[0] <= header.api_version <= handler.served[1]:
            self._answer_unsupported(connection, slot, header)
            return
        if len(frame) > STRUCTURED_REQUEST_BYTES_MAX and handler.api != ApiKey.PRODUCE:
            raise _BadRequest(f"{handler.api.name} request of {len(frame)} bytes")
        try:
            request = decode(MESSAGES[handler.api].request, frame[body_at:], header.api_version, ignore_rest=True)
        except ProtocolError as error:
            raise _BadRequest(str(error)) from None
        self._metrics.request(handler.api, len(frame))
        self._deliver(connection, slot, header, handler.handle(request, self._context(connection, header)))

    def on_closed(self, connection: Connection) -> None:
        """Cancels what still works for the connection: soon, because a task that never began cannot clean up."""
        loop = asyncio.get_running_loop()
        for task in self._tasks.pop(connection, ()):
            loop.call_soon(task.cancel)

    def _context(self, connection: Connection, header: RequestHeader) -> RequestContext:
        return RequestContext(
            self._services, header.api_version, header.client_id or "", connection.peer_host, self._listener_name
        )

    def _answer_unsupported(self, connection: Connection, slot: Slot, header: RequestHeader) -> None:
        if header.api_key == ApiKey.API_VERSIONS:
            self._send(connection, slot, header, unsupported_version_response(), version=0)
            return
        raise _BadRequest(f"api {header.api_key} version {header.api_version} is not served")

    def _deliver(self, connection: Connection, slot: Slot, header: RequestHeader, reply: Reply) -> None:
        if reply is None:
            connection.fill(slot, ())
        elif isinstance(reply, Message):
            self._send(connection, slot, header, reply, version=header.api_version)
        else:
            task = asyncio.ensure_future(self._deliver_later(connection, slot, header, reply))
            tasks = self._tasks.setdefault(connection, set())
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def _deliver_later(self, connection: Connection, slot: Slot, header: RequestHeader, reply) -> None:
        try:
            response = await reply
            if connection.is_open:
                self._deliver(connection, slot, header, response)
        except CloseConnectionError as error:
            self._reject(connection, error)
        except Exception:
            self._fail(connection, header)

    def _send(self, connection: Connection, slot: Slot, header: RequestHeader, response: Message, version: int) -> None:
        head = encode_response_header(header.api_key, version, header.correlation_id)
        parts = encode_parts(response, version)
        size = len(head) + sum(map(len, parts))
        self._metrics.response(size)
        connection.fill(slot, (size.to_bytes(SIZE_BYTES) + head, *parts))

    def _reject(self, connection: Connection, error: BarnabasError) -> None:
        """A fault of the client's."""
        self._metrics.rejected()
        connection.close(str(error))

    def _fail(self, connection: Connection, header: RequestHeader) -> None:
        """A fault of ours: nothing is known about the answer, so the client is told by the closed connection."""
        _log.exception("request failed", peer=connection.peer, api=header.api_key, version=header.api_version)
        self._metrics.failed()
        connection.close("internal error")
