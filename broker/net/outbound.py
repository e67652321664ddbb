"""A connection to another broker: one request at a time, answered or failed. For the control plane, where order counts
more than rate.
"""

import asyncio
import contextlib
from itertools import count

from broker.common.errors import ProtocolError
from broker.net.dialer import Dialer, PeerUnreachable, reason_of
from broker.protocol.codec import decode, encode
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.schema import Message

#: An answer on the control plane names partitions; a peer that announces more than this is not a broker.
RESPONSE_BYTES_MAX = 64 * 1024 * 1024


class OutboundConnection:
    """A connection of this process to a broker. After any error it is closed; `connect` opens it anew."""

    def __init__(self, dialer: Dialer, host: str, port: int, client_id: str):
        self._dialer = dialer
        self._host = host
        self._port = port
        self._client_id = client_id
        self._correlation_ids = count()
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._turn = asyncio.Lock()

    @property
    def is_connected(self) -> bool:
        return self._writer is not None

    async def connect(self, timeout_ms: int) -> None:
        """Raises PeerUnreachable. Does nothing when connected."""
        if self.is_connected:
            return
        sock = await self._dialer.dial(self._host, self._port, timeout_ms)
        try:
            self._reader, self._writer = await asyncio.open_connection(sock=sock)
        except BaseException:
            sock.close()
            raise

    async def request(self, message: Message, version: int, timeout_ms: int) -> Message:
        """The response. Raises PeerUnreachable, or ProtocolError when the answer cannot be read."""
        async with self._turn:
            reader, writer = self._reader, self._writer
            if reader is None or writer is None:
                raise PeerUnreachable(f"not connected to {self._host}:{self._port}")
            try:
                async with asyncio.timeout(timeout_ms / 1000):
                    return await self._exchange(message, version, reader, writer)
            except (OSError, TimeoutError, EOFError) as error:
                self.close()
                reason = f"{self._host}:{self._port} did not answer {message.api.name}: {reason_of(error)}"
                raise PeerUnreachable(reason) from error
            except BaseException:
                # Cancelled or garbled in the middle: the next answer would be taken for this one's.
                self.close()
                raise

    def close(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self._writer.close()
        self._reader = self._writer = None

    async def _exchange(
        self, message: Message, version: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Message:
        correlation_id = next(self._correlation_ids) & 0x7FFFFFFF
        header = encode_request_header(RequestHeader(message.api, version, correlation_id, self._client_id))
        body = encode(message, version)
        writer.write((len(header) + len(body)).to_bytes(SIZE_BYTES) + header + body)
        await writer.drain()
        size = int.from_bytes(await reader.readexactly(SIZE_BYTES), signed=True)
        if not 0 <= size <= RESPONSE_BYTES_MAX:
            raise ProtocolError(f"{self._host}:{self._port} announces an answer of {size} bytes")
        frame = memoryview(await reader.readexactly(size))
        answered_id, at = decode_response_header(message.api, version, frame)
        if answered_id != correlation_id:
            raise ProtocolError(f"{self._host}:{self._port} answers request {answered_id} instead of {correlation_id}")
        return decode(MESSAGES[message.api].response, frame[at:], version)
