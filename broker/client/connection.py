"""A blocking connection to one broker: TLS and login as wanted, which versions are served, then requests and answers.

A request and its answer are whole in memory, and bounded. Whoever has more to say than one thing sends several requests
before the first answer is taken: brokers answer in order.
"""

import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol

from broker.client.errors import ApiNotServed, BrokerUnreachable, ClosedAtOnce, LoginRefused, NotTrusted
from broker.client.wire import ReceiveBuffer, Wire
from broker.common.errors import ApiError, ProtocolError, error_code_of
from broker.protocol.api_keys import OWN_APIS_FROM, ApiKey
from broker.protocol.codec import decode, encode_pieces
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import AnyResponse, response_type
from broker.protocol.messages.api_versions import OWN_SOFTWARE, ApiVersionsRequest, ApiVersionsResponse
from broker.protocol.primitives import Buffer
from broker.protocol.schema import Message, Request

if TYPE_CHECKING:
    from broker.client.security.properties import ClientSecurity
    from broker.security.login import Login
    from broker.security.membership import ClusterMembership

#: A peer that announces a larger answer is not a broker, or is not well.
RESPONSE_BYTES_MAX = 64 * 1024 * 1024
#: Every broker of the last ten years answers this version.
_FIRST_VERSION = 0
#: The first one in which a client says what it is (KIP-511): by that a broker tells of its own APIs.
_INTRODUCED_FROM = 3
#: A login that ends is made anew after this part of its life, as Kafka's clients do (KIP-368).
_LOGIN_USED_FOR = 0.85
#: Last versions that name topics: later ones have topic ids instead, which callers here do not know.
_BY_NAME = {
    ApiKey.PRODUCE: 12,
    ApiKey.OFFSET_COMMIT: 9,
    ApiKey.OFFSET_FETCH: 9,
    ApiKey.TXN_OFFSET_COMMIT: 5,
}
#: By which who logs in as a member says so beforehand: a listener may have other mechanisms for everybody else.
_MEMBERS_CLIENT_ID = "member"
#: How an alert of TLS begins: whoever does not speak it takes it for a length.
_TLS_ALERT = b"\x15\x03"


class SentRequest(NamedTuple, Generic[AnyResponse]):
    """A request whose answer has not been taken yet; `at_s` by the monotonic clock."""

    api: ApiKey
    response: type[AnyResponse]
    version: int
    correlation_id: int
    size: int
    at_s: float


class RequestMeter(Protocol):
    """Notified of every request of the connections that have it. Threads share it."""

    def turn(self, address: str, timeout_s: float) -> AbstractContextManager[object]:
        """Return a context for one awaited request. Raises BrokerUnreachable if its turn does not come in time."""
        ...

    def answered(self, address: str, api: ApiKey, sent: int, received: int, seconds: float, *, is_error: bool) -> None:
        """Count a response. Bytes include the framing; `is_error`: it failed as a whole."""
        ...

    def failed(self, address: str, api: ApiKey) -> None:
        """Count a request without a readable response."""
        ...


class BrokerConnection:
    """Connects on construction. After any error but ApiNotServed it is closed. Use it in a `with` block."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        timeout_s: float = 10.0,
        client_id: str = "barnabas",
        security: "ClientSecurity | None" = None,
        meter: RequestMeter | None = None,
    ):
        """`timeout_s` is for connecting, and for each request that names no other; without `security` all is plain.

        Raises BrokerUnreachable, NotTrusted, LoginRefused, ClientConfigError.
        """
        self.address = f"{host}:{port}"
        self.timeout_s = timeout_s
        self._client_id = client_id
        self._meter = meter
        self._where = (host, port)
        self._secured = None
        if security is not None and security.protocol != "PLAINTEXT":
            # Most connections are plain, and a command would wait for the import.
            from broker.client.security.connecting import secured

            self._secured = secured(security)
        self._correlation_ids = count(1)
        self._open(time.monotonic() + timeout_s, None)

    def _open(self, deadline: float, membership: "ClusterMembership | None") -> None:
        self.is_member = False
        self._is_logged_in = self._is_known = False
        self._unanswered = 0
        self._login_ends_at = float("inf")
        self._socket = self._connect(deadline)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._wrap(deadline)
            self._wire = Wire(self._socket, is_plain=self._secured is None)
            if membership is not None:
                self._log_in_as_member(membership, deadline)
            elif self._secured is not None and (login := self._secured.login()) is not None:
                self._log_in(login, deadline)
            self._features: dict[str, tuple[int, int]] = {}
            self._served = self._ask_versions(deadline)
        except BaseException:
            self.close()
            raise

    def _connect(self, deadline: float) -> socket.socket:
        try:
            return socket.create_connection(self._where, timeout=max(deadline - time.monotonic(), 0.001))
        except OSError as error:
            raise BrokerUnreachable(f"cannot connect to {self.address}: {_why(error)}") from error

    def _wrap(self, deadline: float) -> None:
        if self._secured is None:
            return
        try:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            self._socket = self._secured.wrap(self._socket, self._where[0])
        except OSError as error:
            if why := self._secured.why(error):
                raise NotTrusted(f"the broker at {self.address}: {why}") from error
            raise BrokerUnreachable(
                f"{self.address} does not end the TLS handshake: {_why(error)}; does it speak TLS on that port?"
            ) from error

    def __enter__(self) -> "BrokerConnection":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def fileno(self) -> int:
        """Return the file descriptor, for a selector that awaits several brokers."""
        return self._socket.fileno()

    @property
    def is_at_rest(self) -> bool:
        """Whether the connection is open with no request in flight, so that others may use it."""
        return self._socket.fileno() >= 0 and not self._unanswered

    @property
    def served(self) -> Mapping[int, tuple[int, int]]:
        """API → lowest and highest version, as the broker said on connecting."""
        return self._served

    @property
    def supported_features(self) -> Mapping[str, tuple[int, int]]:
        """Feature → lowest and highest level that the broker supports (KIP-584); empty where it tells none."""
        return self._features

    def ask(
        self,
        request: Request[AnyResponse],
        *,
        timeout_s: float | None = None,
        version_max: int = 0x7FFF,
        membership: "ClusterMembership | None" = None,
    ) -> AnyResponse:
        """Return the response, in the highest version both sides know that is not above `version_max`.

        With a `membership` as a member of the cluster, which some APIs are only for; the address must then be the one
        the broker advertises. Raises ApiNotServed, LoginRefused, BrokerUnreachable, or ProtocolError when the answer
        cannot be read.
        """
        version = self._version_of(request, version_max)
        deadline = time.monotonic() + (timeout_s or self.timeout_s)
        self._be_logged_in(membership, deadline)
        with self._turn(deadline):
            answer = self._exchange(request, version, deadline)
        self._is_known = True
        return answer

    def _turn(self, deadline: float) -> AbstractContextManager[object]:
        if self._meter is None:
            return nullcontext()
        return self._meter.turn(self.address, deadline - time.monotonic())

    def send(self, request: Request[AnyResponse], *, version_max: int = 0x7FFF) -> SentRequest[AnyResponse]:
        """Send a request without waiting; `answer` takes the responses in the order of sending. Raises as `ask`."""
        (sent,) = self.send_all([request], version_max=version_max)
        return sent

    def send_all(
        self,
        requests: Sequence[Request[AnyResponse]],
        *,
        version_max: int = 0x7FFF,
        membership: "ClusterMembership | None" = None,
    ) -> list[SentRequest[AnyResponse]]:
        """Send several requests in one piece, which wakes the peer once."""
        versions = [self._version_of(request, version_max) for request in requests]
        deadline = time.monotonic() + self.timeout_s
        if not self._unanswered:
            self._be_logged_in(membership, deadline)
        with self._told_of(requests[0].api):
            sent = self._send(requests, versions, deadline)
        self._unanswered += len(sent)
        return sent

    def answer(
        self, sent: SentRequest[AnyResponse], *, timeout_s: float | None = None, room: ReceiveBuffer | None = None
    ) -> AnyResponse:
        """Receive the response to the oldest unanswered request, into `room` if given. Raises as `ask`."""
        with self._told_of(sent.api):
            answer = self._receive_answer(sent, time.monotonic() + (timeout_s or self.timeout_s), room)
        self._unanswered -= 1
        self._is_known = True
        return answer

    def _be_logged_in(self, membership: "ClusterMembership | None", deadline: float) -> None:
        if time.monotonic() >= self._login_ends_at:
            self.close()
            self._open(deadline, None)
        if membership is not None and not self.is_member:
            self._become_member(membership, deadline)

    def _become_member(self, membership: "ClusterMembership", deadline: float) -> None:
        """Become a cluster member, on a connection of its own if this one has another identity."""
        if self._is_logged_in:
            self.close()
            self._open(deadline, membership)
        else:
            self._log_in_as_member(membership, deadline)

    def _log_in_as_member(self, membership: "ClusterMembership", deadline: float) -> None:
        from broker.security.login import login

        named, self._client_id = self._client_id, _MEMBERS_CLIENT_ID
        try:
            self._log_in(login(membership.dial(*self._where)), deadline)
        except LoginRefused as error:
            raise LoginRefused(
                f"the broker at {self.address} does not take us for a member: {error.__cause__}"
            ) from error
        finally:
            self._client_id = named
        self.is_member = True

    def _log_in(self, talk: "Login", deadline: float) -> None:
        from broker.security.scram import AuthenticationError

        try:
            request = next(talk)
            while True:
                request = talk.send(self._exchange(*request, deadline))
        except StopIteration as done:
            self._is_logged_in = self._is_known = True
            if done.value:
                self._login_ends_at = time.monotonic() + done.value / 1000 * _LOGIN_USED_FOR
        except AuthenticationError as error:
            self.close()
            raise LoginRefused(f"the broker at {self.address} does not let us in: {error}") from error

    def _ask_versions(self, deadline: float) -> dict[int, tuple[int, int]]:
        served = _versions(self._exchange(ApiVersionsRequest(), _FIRST_VERSION, deadline))
        if served.get(ApiKey.API_VERSIONS, (0, 0))[1] < _INTRODUCED_FROM:
            return served
        introduction = ApiVersionsRequest(client_software_name=OWN_SOFTWARE, client_software_version="1")
        answer = self._exchange(introduction, _INTRODUCED_FROM, deadline)
        self._features = {
            feature.name: (feature.min_version, feature.max_version) for feature in answer.supported_features
        }
        return _versions(answer)

    def _version_of(self, request: Request[Message], version_max: int) -> int:
        api = ApiKey(request.api)
        version_max = min(version_max, _BY_NAME.get(api, version_max))
        if api not in self._served:
            whose = "; is it a Barnabas broker?" if api >= OWN_APIS_FROM else ""
            raise ApiNotServed(f"the broker at {self.address} does not serve {api.name}{whose}")
        theirs, ours = self._served[api], request.versions
        version = min(theirs[1], ours[1], version_max)
        if version < max(theirs[0], ours[0]):
            range_ = f"{theirs[0]} to {theirs[1]}"
            raise ApiNotServed(f"the broker at {self.address} serves {api.name} in versions {range_}, unknown here")
        return version

    def _exchange(self, request: Request[AnyResponse], version: int, deadline: float) -> AnyResponse:
        with self._told_of(request.api):
            (sent,) = self._send([request], [version], deadline)
            return self._receive_answer(sent, deadline)

    @contextmanager
    def _told_of(self, api: ApiKey) -> Iterator[None]:
        try:
            with self._counted(api):
                yield
        except OSError as error:
            self.close()
            if self._secured is not None and (why := self._secured.why(error)):
                raise NotTrusted(f"the broker at {self.address}: {why}") from error
            # A listener that wants more than we brought closes the connection, and does not say why.
            sentence = f"{self.address} did not answer {api.name}: {_why(error)}"
            is_hung_up = isinstance(error, ConnectionError) or (self._secured is not None and self._secured.ends(error))
            if is_hung_up and not self._is_known:
                wanted = "TLS or a login" if self._secured is None else "another login, or a certificate"
                raise ClosedAtOnce(f"{sentence}; does it want {wanted}? see security.protocol") from error
            raise BrokerUnreachable(sentence) from error
        except BaseException:
            # Interrupted or garbled in the middle: the next answer would be taken for this one's.
            self.close()
            raise

    @contextmanager
    def _counted(self, api: ApiKey) -> Iterator[None]:
        try:
            yield
        except BaseException:
            if self._meter is not None:
                self._meter.failed(self.address, api)
            raise

    def _send(
        self, requests: Sequence[Request[AnyResponse]], versions: Sequence[int], deadline: float
    ) -> list[SentRequest[AnyResponse]]:
        pieces: list[Buffer] = []
        sent = [self._frame(request, version, pieces) for request, version in zip(requests, versions, strict=True)]
        self._wire.send(pieces, deadline)
        return sent

    def _frame(self, request: Request[AnyResponse], version: int, pieces: list[Buffer]) -> SentRequest[AnyResponse]:
        """Frame the request behind `pieces`."""
        correlation_id = next(self._correlation_ids) & 0x7FFFFFFF
        header = encode_request_header(RequestHeader(request.api, version, correlation_id, self._client_id))
        body = encode_pieces(request, version)
        size = len(header) + sum(map(len, body))
        pieces += (size.to_bytes(SIZE_BYTES), header, *body)
        at_s = time.monotonic()
        return SentRequest(request.api, response_type(request), version, correlation_id, SIZE_BYTES + size, at_s)

    def _receive_answer(
        self, sent: SentRequest[AnyResponse], deadline: float, room: ReceiveBuffer | None = None
    ) -> AnyResponse:
        announced = bytes(self._wire.receive(SIZE_BYTES, deadline))
        if self._secured is None and announced.startswith(_TLS_ALERT):
            raise NotTrusted(f"the broker at {self.address} speaks TLS on that port; see security.protocol")
        size = int.from_bytes(announced, signed=True)
        if not 0 <= size <= RESPONSE_BYTES_MAX:
            raise ProtocolError(f"{self.address} announces an answer of {size} bytes; is it a Kafka broker?")
        frame = self._wire.receive(size, deadline, room)
        answer = self._decoded(sent, frame)
        if self._meter is not None:
            seconds, is_error = time.monotonic() - sent.at_s, bool(getattr(answer, "error_code", 0))
            received = SIZE_BYTES + size
            self._meter.answered(self.address, sent.api, sent.size, received, seconds, is_error=is_error)
        return answer

    def _decoded(self, sent: SentRequest[AnyResponse], frame: memoryview) -> AnyResponse:
        try:
            answered_id, at = decode_response_header(sent.api, sent.version, frame)
            if answered_id == sent.correlation_id:
                # Kafka's own clients do not look behind an answer either; librdkafka's mock brokers send more there.
                return decode(sent.response, frame[at:], sent.version, ignore_rest=True)
        except ProtocolError as error:
            raise ProtocolError(f"what {self.address} answers to {sent.api.name} cannot be read: {error}") from error
        raise ProtocolError(f"{self.address} answers request {answered_id} instead of {sent.correlation_id}")


def _versions(answer: ApiVersionsResponse) -> dict[int, tuple[int, int]]:
    if answer.error_code:
        raise ApiError(error_code_of(answer.error_code))
    return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}


def _why(error: OSError) -> str:
    return "timed out" if isinstance(error, TimeoutError) else error.strerror or str(error)
