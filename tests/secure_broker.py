"""A broker of a hundred lines that wants TLS or a login, and tells afterwards who came: for tests of clients."""

import base64
import contextlib
import hashlib
import hmac
import socket
import ssl
import threading
from collections.abc import Generator
from pathlib import Path

from broker.common.errors import ErrorCode, ProtocolError
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import decode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from broker.protocol.messages.metadata import MetadataResponse, MetadataResponseBroker
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from broker.protocol.messages.sasl_handshake import SaslHandshakeResponse
from tests.certificates import Authority, Credential
from tests.response_headers import encode_response_header

_SALT, _ITERATIONS = b"salt of this broker", 4_096
_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class Refused(Exception):
    pass


def written(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def server_context(own: Credential, path: Path, clients: Authority | None = None) -> ssl.SSLContext:
    """`path` is for a file; with `clients` it wants a certificate of theirs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(written(path, own.pem()))
    if clients is not None:
        context.load_verify_locations(cadata=clients.pem)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class SecureBroker:
    """Use it in a `with` block. Without `mechanism` nobody logs in."""

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        mechanism: str = "",
        users: dict[str, str] | None = None,
        lifetime_ms: int = 0,
    ):
        self.mechanism = mechanism
        self.users = users or {}
        self.lifetime_ms = lifetime_ms
        self.tls = tls
        #: Who has logged in, or whose certificate it was, in order.
        self.came: list[str] = []
        self.requests: list[ApiKey] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def __enter__(self) -> "SecureBroker":
        return self

    def __exit__(self, *_exception: object) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._accepting.join(20)
        for item in self._open:
            with contextlib.suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while True:
            try:
                plain, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(plain)
            threading.Thread(target=self._serve, args=[plain], daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError, ProtocolError), plain:
            sock = plain
            if self.tls is not None:
                sock = self.tls.wrap_socket(plain, server_side=True)
                self._open.append(sock)
                if certificate := sock.getpeercert():
                    self.came.append(dict(item[0] for item in certificate["subject"])["commonName"])
            with sock, sock.makefile("rb") as stream:
                self._answer_all(sock, stream)

    def _answer_all(self, sock, stream) -> None:
        login: Generator | None = None
        is_in = not self.mechanism
        while len(size := stream.read(4)) == 4:
            frame = stream.read(int.from_bytes(size))
            header, at = decode_request_header(frame)
            request = decode(MESSAGES[header.api_key].request, frame[at:], header.api_version, ignore_rest=True)
            self.requests.append(ApiKey(header.api_key))
            match header.api_key:
                case ApiKey.API_VERSIONS:
                    answer = _versions()
                case ApiKey.SASL_HANDSHAKE if request.mechanism != self.mechanism:
                    offered = [self.mechanism] if self.mechanism else []
                    answer = SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=offered)
                case ApiKey.SASL_HANDSHAKE:
                    answer = SaslHandshakeResponse(mechanisms=[self.mechanism])
                    login = self._login()
                    next(login)
                case ApiKey.SASL_AUTHENTICATE if login is not None:
                    answer, is_in = self._authenticated(login, bytes(request.auth_bytes))
                case ApiKey.METADATA if is_in:
                    answer = self._metadata()
                case _:
                    return
            head = encode_response_header(header.api_key, header.api_version, header.correlation_id)
            data = head + encode(answer, header.api_version)
            sock.sendall(len(data).to_bytes(4) + data)

    def _authenticated(self, login: Generator, token: bytes) -> tuple[SaslAuthenticateResponse, bool]:
        try:
            challenge, is_over = login.send(token)
        except Refused as refused:
            code = ErrorCode.SASL_AUTHENTICATION_FAILED
            return SaslAuthenticateResponse(error_code=code, error_message=str(refused)), False
        lifetime_ms = self.lifetime_ms if is_over else 0
        return SaslAuthenticateResponse(auth_bytes=challenge, session_lifetime_ms=lifetime_ms), is_over

    def _metadata(self) -> MetadataResponse:
        own = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=self.port, rack=None)
        return MetadataResponse(brokers=[own], cluster_id="secured", controller_id=1, topics=[])

    def _login(self) -> Generator:
        """Is sent tokens, yields what is answered and whether that is all."""
        return {"PLAIN": self._plain, "OAUTHBEARER": self._bearer}.get(self.mechanism, self._scram)()

    def _plain(self) -> Generator:
        token = yield
        _, user, password = token.decode().split("\0")
        if self.users.get(user) != password:
            raise Refused("Authentication failed: Invalid username or password")
        self.came.append(user)
        yield b"", True

    def _bearer(self) -> Generator:
        token = yield
        parts = token.decode().split("\x01")
        user = self.users.get(parts[1].removeprefix("auth=Bearer "))
        if parts[0] != "n,," or user is None:
            assert (yield b'{"status":"invalid_token"}', False) == b"\x01"
            raise Refused('{"status":"invalid_token"}')
        self.came.append(user)
        yield b"", True

    def _scram(self) -> Generator:
        """RFC 5802 once more, written from its formulas."""
        digest = _HASHES[self.mechanism]

        def mac(key: bytes, text: bytes) -> bytes:
            return hmac.new(key, text, digest).digest()

        token = yield
        bare = token.removeprefix(b"n,,")
        attributes = dict(part.split(b"=", 1) for part in bare.split(b","))
        user = attributes[b"n"].decode().replace("=2C", ",").replace("=3D", "=")
        first = b"r=" + attributes[b"r"] + b"more,s=" + base64.b64encode(_SALT) + b",i=%d" % _ITERATIONS
        token = yield first, False
        without_proof, _, proof = token.rpartition(b",p=")
        salted = hashlib.pbkdf2_hmac(digest, self.users.get(user, "?").encode(), _SALT, _ITERATIONS)
        signed = b",".join((bare, first, without_proof))
        stored = hashlib.new(digest, mac(salted, b"Client Key")).digest()
        key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), mac(stored, signed), strict=True))
        if hashlib.new(digest, key).digest() != stored:
            raise Refused("Authentication failed during authentication due to invalid credentials")
        self.came.append(user + (" by token" if attributes.get(b"tokenauth") == b"true" else ""))
        yield b"v=" + base64.b64encode(mac(mac(salted, b"Server Key"), signed)), True


def _versions() -> ApiVersionsResponse:
    served = {
        ApiKey.API_VERSIONS: (0, 3),
        ApiKey.METADATA: (0, 9),
        ApiKey.SASL_HANDSHAKE: (0, 1),
        ApiKey.SASL_AUTHENTICATE: (0, 2),
    }
    return ApiVersionsResponse(
        api_keys=[ApiVersion(api_key=key, min_version=first, max_version=last) for key, (first, last) in served.items()]
    )
