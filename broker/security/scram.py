"""SCRAM (RFC 5802, RFC 7677), with SHA-256 or SHA-512, both ends of it: each proves to the other that it knows a
password, and says nothing that would help anybody to guess it. Without channel binding, as Kafka; names are compared as
they are.

An exchange serves once, in the order of its methods; whatever is wrong raises AuthenticationError. A proof counts for
the two nonces of its exchange only, so nothing that was heard can be said again (CVE-2024-56128: they are compared).
"""

import base64
import binascii
import hmac
import re
from collections.abc import Callable, Mapping
from hashlib import new as new_hash
from hashlib import pbkdf2_hmac
from types import MappingProxyType
from typing import NamedTuple

from broker.common.errors import BarnabasError

MECHANISM = "SCRAM-SHA-256"
#: Each mechanism's hash.
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
#: What Kafka takes; more would be a way to keep the other end busy.
ITERATIONS_MIN, ITERATIONS_MAX = 4_096, 16_384
#: In which Kafka writes its salts (ScramFormatter.secureRandomBytes): 130 random bits in base 36.
SALT_LETTERS = b"0123456789abcdefghijklmnopqrstuvwxyz"
SALT_LENGTH = 26
#: What Kafka tells who asks to be somebody else.
OTHER_AUTHORIZATION_ID = "Authentication failed: Client requested an authorization id that is different from username"

_NONCE = r"[\x21-\x2b\x2d-\x7e]+"
_EXTENSIONS = r"(?P<extensions>(?:,[A-Za-z]+=[^,\0]+)*)"
#: Kafka's names of SCRAM have seven bits (ScramMessages.java).
_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_CLIENT_FIRST = re.compile(
    rf"(?P<gs2>n,(?:a=(?P<authorized>{_NAME}))?,)(?P<bare>n=(?P<user>{_NAME}),r=(?P<nonce>{_NONCE}){_EXTENSIONS})"
)
_SERVER_FIRST = re.compile(rf"r=(?P<nonce>{_NONCE}),s=(?P<salt>[^,]+),i=(?P<iterations>[1-9][0-9]{{0,8}}){_EXTENSIONS}")
_CLIENT_FINAL = re.compile(
    rf"(?P<without_proof>c=(?P<gs2>[^,]+),r=(?P<nonce>{_NONCE}){_EXTENSIONS}),p=(?P<proof>[^,]+)"
)
_SERVER_FINAL = re.compile(rf"v=(?P<signature>[^,]+){_EXTENSIONS}")


class AuthenticationError(BarnabasError):
    """Authentication failed, or the peer does not speak the mechanism; the sentence has no secret.

    `client_message` is what the client is sent instead of the general words of its mechanism.
    """

    def __init__(self, reason: str, client_message: str | None = None):
        super().__init__(reason)
        self.client_message = client_message


class Keys(NamedTuple):
    """The SCRAM keys derived from a password, which they replace."""

    client_key: bytes
    server_key: bytes


class Credential(NamedTuple):
    """What a server keeps of a user: enough to check a proof, too little to make one."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes


def derive_keys(password: bytes, salt: bytes, iterations: int, mechanism: str = MECHANISM) -> Keys:
    """Takes milliseconds: once for a password, not for each connection."""
    return keys_of_salted(pbkdf2_hmac(HASHES[mechanism], password, salt, iterations), mechanism)


def keys_of_salted(salted_password: bytes, mechanism: str = MECHANISM) -> Keys:
    digest = HASHES[mechanism]
    return Keys(_hmac(salted_password, b"Client Key", digest), _hmac(salted_password, b"Server Key", digest))


def digest_size(mechanism: str) -> int:
    return new_hash(HASHES[mechanism]).digest_size


def credential_of(keys: Keys, salt: bytes, iterations: int, mechanism: str = MECHANISM) -> Credential:
    return Credential(salt, iterations, new_hash(HASHES[mechanism], keys.client_key).digest(), keys.server_key)


class ClientExchange:
    """The client's side of SCRAM: authenticates, and checks that the server knows the password, too."""

    def __init__(
        self,
        user: str,
        keys_for: Callable[[bytes, int], Keys],
        nonce: str,
        extensions: Mapping[str, str] = MappingProxyType({}),
        mechanism: str = MECHANISM,
    ):
        """`keys_for(salt, iterations)` may raise AuthenticationError; `extensions` are part of what is proved."""
        self.mechanism = mechanism
        self._hash = HASHES[mechanism]
        self._keys_for = keys_for
        self._nonce = nonce
        escaped = user.replace("=", "=3D").replace(",", "=2C")
        self._first_bare = f"n={escaped},r={nonce}" + "".join(f",{name}={text}" for name, text in extensions.items())
        self._signature = b""

    def first(self) -> bytes:
        return f"n,,{self._first_bare}".encode()

    def final(self, server_first: bytes) -> bytes:
        match = _match(_SERVER_FIRST, server_first)
        if not match["nonce"].startswith(self._nonce) or match["nonce"] == self._nonce:
            raise AuthenticationError("the server answers another exchange")
        iterations = int(match["iterations"])
        if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
            raise AuthenticationError(f"the server asks for {iterations} iterations")
        keys = self._keys_for(_decode(match["salt"]), iterations)
        without_proof = f"c={_encode(b'n,,')},r={match['nonce']}"
        signed = f"{self._first_bare},{match[0]},{without_proof}".encode()
        self._signature = _hmac(keys.server_key, signed, self._hash)
        stored_key = new_hash(self._hash, keys.client_key).digest()
        proof = _xor(keys.client_key, _hmac(stored_key, signed, self._hash))
        return f"{without_proof},p={_encode(proof)}".encode()

    def verify(self, server_final: bytes) -> None:
        """Returns if the server knows the password, too."""
        signature = _decode(_match(_SERVER_FINAL, server_final)["signature"])
        if not self._signature or not hmac.compare_digest(signature, self._signature):
            raise AuthenticationError("the server does not know the password")


class ServerExchange:
    """Authenticates a client. `user` is set by `first`, and true once `final` has returned."""

    def __init__(
        self,
        credential_for: Callable[[str, Mapping[str, str]], Credential],
        nonce: str,
        mechanism: str = MECHANISM,
    ):
        """`credential_for(user, extensions)` may raise AuthenticationError."""
        self._credential_for = credential_for
        self._server_nonce = nonce
        self._hash = HASHES[mechanism]
        self._credential: Credential | None = None
        self.user = ""

    @property
    def has_begun(self) -> bool:
        return self._credential is not None

    def first(self, client_first: bytes) -> bytes:
        match = _match(_CLIENT_FIRST, client_first)
        self._gs2 = match["gs2"]
        self.user = _unescape(match["user"])
        if match["authorized"] not in (None, match["user"]):
            raise AuthenticationError(OTHER_AUTHORIZATION_ID, client_message=OTHER_AUTHORIZATION_ID)
        extensions = dict(part.split("=", 1) for part in match["extensions"].split(",")[1:])
        credential = self._credential_for(self.user, extensions)
        if credential.iterations < ITERATIONS_MIN:
            raise AuthenticationError(f"the user's credential has {credential.iterations} iterations")
        self._credential = credential
        nonce = match["nonce"] + self._server_nonce
        #: The second is what librdkafka before 2.6.1 says (#4895), and Kafka 3.8.1 takes.
        self._nonces = (nonce, match["nonce"] + nonce)
        first = f"r={nonce},s={_encode(credential.salt)},i={credential.iterations}"
        self._signed = f"{match['bare']},{first}"
        return first.encode()

    def final(self, client_final: bytes) -> bytes:
        match, credential = _match(_CLIENT_FINAL, client_final), self._credential
        if credential is None:
            raise AuthenticationError("the client ends an exchange that it did not begin")
        if match["nonce"] not in self._nonces or _decode(match["gs2"]) != self._gs2.encode():
            raise AuthenticationError("the client answers another exchange")
        signed = f"{self._signed},{match['without_proof']}".encode()
        client_key = _xor(_decode(match["proof"]), _hmac(credential.stored_key, signed, self._hash))
        if not hmac.compare_digest(new_hash(self._hash, client_key).digest(), credential.stored_key):
            raise AuthenticationError("the client does not know the password")
        return f"v={_encode(_hmac(credential.server_key, signed, self._hash))}".encode()


def _match(pattern: re.Pattern[str], token: bytes) -> re.Match[str]:
    try:
        match = pattern.fullmatch(bytes(token).decode())
    except UnicodeDecodeError:
        match = None
    if match is None:
        raise AuthenticationError("not a message of SCRAM, or not the one that is due")
    return match


def _unescape(name: str) -> str:
    return name.replace("=2C", ",").replace("=3D", "=")


def _hmac(key: bytes, message: bytes, digest: str = "sha256") -> bytes:
    return hmac.digest(key, message, digest)


def _xor(one: bytes, other: bytes) -> bytes:
    if len(one) != len(other):
        raise AuthenticationError("a proof of the wrong length")
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise AuthenticationError("not a message of SCRAM: bad base64") from error
