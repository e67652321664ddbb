"""One request to one broker and its answer, whatever a client library would make of it."""

import contextlib
import socket
from types import TracebackType

from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.security.login import login
from broker.security.membership import ClusterMembership
from tests.members import new_nonce
from tests.place import HERE

_TIMEOUT_S = 20
_CORRELATION_ID = 1


class WireClient:
    """A connection to a broker; `send` what you want, then take each answer with `answer`. Raises OSError."""

    def __init__(self, port: int, host: str = HERE.address):
        self._host, self._port = host, port
        self._socket = socket.create_connection((host, port), timeout=_TIMEOUT_S)

    def __enter__(self) -> "WireClient":
        return self

    def __exit__(self, _type: type | None, _error: BaseException | None, _traceback: TracebackType | None) -> None:
        self._socket.close()

    def log_in(self, secret: bytes) -> None:
        """As a member of the cluster."""
        talk = login(ClusterMembership(secret, new_nonce).dial(self._host, self._port))
        request = next(talk)
        with contextlib.suppress(StopIteration):
            while True:
                request = talk.send(self.ask(*request))

    def ask(self, message, version: int):
        self.send(message, version)
        return self.answer(message.api, version)

    def send(self, message, version: int) -> None:
        head = encode_request_header(RequestHeader(message.api, version, _CORRELATION_ID, "faults"))
        body = encode(message, version)
        self._socket.sendall((len(head) + len(body)).to_bytes(4) + head + body)

    def answer(self, api: ApiKey, version: int):
        frame = memoryview(self._read(int.from_bytes(self._read(4))))
        _, body_at = decode_response_header(api, version, frame)
        return decode(MESSAGES[api].response, frame[body_at:], version)

    def _read(self, size: int) -> bytes:
        read = b""
        while len(read) < size:
            more = self._socket.recv(size - len(read))
            if not more:
                raise ConnectionError("the broker closed the connection")
            read += more
        return read
