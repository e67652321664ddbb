"""A blocking connection to one broker: it asks which versions are served, and then one request at a time.

A request and its answer are whole in memory, and bounded.
"""

import socket
import time
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING

from broker.client.errors import ApiNotServed, BrokerUnreachable, LoginRefused
from broker.common.errors import ApiError, ErrorCode, ProtocolError
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.api_versions import OWN_SOFTWARE, ApiVersionsRequest, ApiVersionsResponse
from broker.protocol.schema import Message

if TYPE_CHECKING:
    from broker.security.membership import Membership

#: A peer that announces a larger answer is not a broker, or is not well.
RESPONSE_BYTES_MAX = 64 * 1024 * 1024
#: Every broker of the last ten years answers this version.
_FIRST_VERSION = 0
#: The first one in which a client says what it is (KIP-511): by that a broker tells of its own APIs.
_INTRODUCED_FROM = 3


class BrokerConnection:
    """Connects on construction. After any error but ApiNotServed it is closed. Use it in a `with` block."""

    def __init__(self, host: str, port: int, *, timeout_s: float = 10.0, client_id: str = "barnabas"):
        """`timeout_s` is for connecting, and for each request that names no other. Raises BrokerUnreachable."""
        self.address = f"{host}:{port}"
        self._timeout_s = timeout_s
        self._client_id = client_id
        self._where = (host, port)
        self._is_member = False
        self._correlation_ids = count(1)
        deadline = time.monotonic() + timeout_s
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_s)
        except OSError as error:
            raise BrokerUnreachable(f"cannot connect to {self.address}: {_why(error)}") from error
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._served = self._ask_versions(deadline)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "BrokerConnection":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    @property
    def served(self) -> Mapping[int, tuple[int, int]]:
        """API → lowest and highest version, as the broker said on connecting."""
        return self._served

    def ask(
        self,
        request: Message,
        *,
        timeout_s: float | None = None,
        version_max: int = 0x7FFF,
        membership: "Membership | None" = None,
    ) -> Message:
        """The response, in the highest version both sides know that is not above `version_max`.

        With a `membership` as a member of the cluster, which some APIs are only for; the address must then be the one
        the broker advertises. Raises ApiNotServed, LoginRefused, BrokerUnreachable, or ProtocolError when the answer
        cannot be read.
        """
        version = self._version_of(request, version_max)
        deadline = time.monotonic() + (timeout_s or self._timeout_s)
        if membership is not None and not self._is_member:
            self._log_in(membership, deadline)
        return self._exchange(request, version, deadline)

    def _log_in(self, membership: "Membership", deadline: float) -> None:
        # Most connections never log in, and a command would wait for the import.
        from broker.security.login import login
        from broker.security.scram import AuthenticationError

        talk = login(membership.dial(*self._where))
        try:
            request = next(talk)
            while True:
                request = talk.send(self._exchange(*request, deadline))
        except StopIteration:
            self._is_member = True
        except AuthenticationError as error:
            self.close()
            raise LoginRefused(f"the broker at {self.address} does not take us for a member: {error}") from error

    def _ask_versions(self, deadline: float) -> dict[int, tuple[int, int]]:
        served = _versions(self._exchange(ApiVersionsRequest(), _FIRST_VERSION, deadline))
        if served.get(ApiKey.API_VERSIONS, (0, 0))[1] < _INTRODUCED_FROM:
            return served
        introduction = ApiVersionsRequest(client_software_name=OWN_SOFTWARE, client_software_version="1")
        return _versions(self._exchange(introduction, _INTRODUCED_FROM, deadline))

    def _version_of(self, request: Message, version_max: int) -> int:
        api = ApiKey(request.api)
        if api not in self._served:
            raise ApiNotServed(f"the broker at {self.address} does not serve {api.name}; is it a Barnabas broker?")
        theirs, ours = self._served[api], request.versions
        version = min(theirs[1], ours[1], version_max)
        if version < max(theirs[0], ours[0]):
            range_ = f"{theirs[0]} to {theirs[1]}"
            raise ApiNotServed(f"the broker at {self.address} serves {api.name} in versions {range_}, unknown here")
        return version

    def _exchange(self, request: Message, version: int, deadline: float) -> Message:
        try:
            return self._send_and_receive(request, version, deadline)
        except OSError as error:
            self.close()
            raise BrokerUnreachable(f"{self.address} did not answer {request.api.name}: {_why(error)}") from error
        except BaseException:
            # Interrupted or garbled in the middle: the next answer would be taken for this one's.
            self.close()
            raise

    def _send_and_receive(self, request: Message, version: int, deadline: float) -> Message:
        correlation_id = next(self._correlation_ids) & 0x7FFFFFFF
        header = encode_request_header(RequestHeader(request.api, version, correlation_id, self._client_id))
        body = encode(request, version)
        self._wait_until(deadline)
        self._socket.sendall((len(header) + len(body)).to_bytes(SIZE_BYTES) + header + body)
        size = int.from_bytes(self._receive(SIZE_BYTES, deadline), signed=True)
        if not 0 <= size <= RESPONSE_BYTES_MAX:
            raise ProtocolError(f"{self.address} announces an answer of {size} bytes; is it a Kafka broker?")
        frame = memoryview(self._receive(size, deadline))
        answered_id, at = decode_response_header(request.api, version, frame)
        if answered_id != correlation_id:
            raise ProtocolError(f"{self.address} answers request {answered_id} instead of {correlation_id}")
        return decode(MESSAGES[request.api].response, frame[at:], version)

    def _receive(self, size: int, deadline: float) -> bytearray:
        """Grows with what arrives, so an announcement alone takes no memory."""
        received = bytearray()
        while len(received) < size:
            self._wait_until(deadline)
            piece = self._socket.recv(min(size - len(received), 1 << 20))
            if not piece:
                raise ConnectionError("the connection was closed")
            received += piece
        return received

    def _wait_until(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)


def _versions(answer: ApiVersionsResponse) -> dict[int, tuple[int, int]]:
    if answer.error_code:
        raise ApiError(ErrorCode(answer.error_code))
    return {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}


def _why(error: OSError) -> str:
    return "timed out" if isinstance(error, TimeoutError) else error.strerror or str(error)
