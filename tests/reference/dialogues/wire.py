"""One plain connection that says what a dialogue says, whatever a broker thinks of it."""

import base64
import socket
import time
from itertools import count

from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest
from broker.protocol.schema import Message

CLIENT_ID = "dialogue"
_WITHIN_S = 20.0


class WireError(Exception):
    """The broker closed the connection, or did not answer in time."""


class PlainConnection:
    """Requests and responses of one socket, in their order."""

    def __init__(self, host: str, port: int, user: str | None = None):
        """`user` logs in by SASL/PLAIN, with its name as its password."""
        self._socket = socket.create_connection((host, port), _WITHIN_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._ids = count(1)
        if user is not None:
            self.exchange(SaslHandshakeRequest(mechanism="PLAIN"), 1)
            self.exchange(SaslAuthenticateRequest(auth_bytes=f"\0{user}\0{user}".encode()), 2)

    def exchange(self, request: Message, version: int) -> Message:
        self.send(request, version)
        return self.receive(request.api, version)

    def send(self, request: Message, version: int) -> None:
        """Raises WireError, ProtocolError for a message that this version cannot express."""
        header = encode_request_header(RequestHeader(request.api, version, next(self._ids), CLIENT_ID))
        body = encode(request, version)
        try:
            self._socket.sendall((len(header) + len(body)).to_bytes(4, "big") + header + body)
        except OSError as error:
            raise WireError("closed") from error

    def receive(self, api: ApiKey, version: int) -> Message:
        """Raises WireError."""
        deadline = time.monotonic() + _WITHIN_S
        frame = self._exactly(int.from_bytes(self._exactly(4, deadline), "big"), deadline)
        _, body_at = decode_response_header(api, version, frame)
        return decode(MESSAGES[api].response, frame[body_at:], version)

    def _exactly(self, size: int, deadline: float) -> bytes:
        received = bytearray()
        while len(received) < size:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                piece = self._socket.recv(size - len(received))
            except TimeoutError as error:
                raise WireError("no response") from error
            except OSError as error:
                raise WireError("closed") from error
            if not piece:
                raise WireError("closed")
            received += piece
        return bytes(received)

    def close(self) -> None:
        self._socket.close()


def uuid_text(raw: bytes) -> str:
    """Return a topic id as Kafka prints it."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
