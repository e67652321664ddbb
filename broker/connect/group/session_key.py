"""The key by which workers of a group know requests of one another (KIP-507): as it stands in the config topic, what it
signs, and whether a signature is right. Pure.

Algorithms have Java's names; how long a key is by default is what Java's generators make.
"""

import base64
import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from broker.connect.storage.records import Record, dump

SIGNATURE_HEADER = "X-Connect-Authorization"
ALGORITHM_HEADER = "X-Connect-Request-Signature-Algorithm"
KEY = "session-key"

#: Its digest, and the bytes of its keys.
_DIGESTS = {
    "HmacMD5": ("md5", 64),
    "HmacSHA1": ("sha1", 64),
    "HmacSHA224": ("sha224", 28),
    "HmacSHA256": ("sha256", 32),
    "HmacSHA384": ("sha384", 48),
    "HmacSHA512": ("sha512", 64),
}
ALGORITHMS = tuple(_DIGESTS)
#: Bits, as Java's generators for HMACs want.
KEY_BITS_MIN, KEY_BITS_MAX = 40, 8_192


@dataclass(frozen=True, slots=True)
class SessionKey:
    """`secret` is in no log."""

    secret: bytes
    algorithm: str
    created_ms: int

    def __repr__(self) -> str:
        return f"SessionKey({self.algorithm}, {self.created_ms})"


def key_bytes(algorithm: str, bits: int | None) -> int:
    """Return the size of a new key in bytes; `bits` None: the algorithm's default."""
    return _DIGESTS[algorithm][1] if bits is None else (bits + 7) // 8


def sign(key: SessionKey, algorithm: str, body: bytes) -> bytes:
    return hmac.digest(key.secret, body, _DIGESTS[algorithm][0])


def signed_headers(key: SessionKey, algorithm: str, body: bytes) -> dict[str, str]:
    return {SIGNATURE_HEADER: base64.b64encode(sign(key, algorithm, body)).decode(), ALGORITHM_HEADER: algorithm}


def refusal(
    headers: Mapping[str, str], body: bytes, key: SessionKey | None, algorithms: Collection[str]
) -> tuple[int, str] | None:
    """Return status and sentence, Kafka's, for a request that none of the group's workers has signed; None: one has."""
    shown, algorithm = headers.get(SIGNATURE_HEADER), headers.get(ALGORITHM_HEADER)
    if shown is None or algorithm is None:
        return 400, "Internal request missing required signature"
    if algorithm not in algorithms:
        return 400, (
            f"This worker does not support the '{algorithm}' key signing algorithm used by other workers. This worker "
            f"is currently configured to use: {', '.join(algorithms)}. Check that all workers' configuration files "
            "permit the same set of signature algorithms, and correct any misconfigured worker and restart it."
        )
    if key is None:
        return 503, (
            "This worker is still starting up and has not been able to read a session key from the config topic yet"
        )
    try:
        signature = base64.b64decode(shown, validate=True)
    except ValueError:
        return 403, "Internal request contained invalid signature."
    if not hmac.compare_digest(signature, sign(key, algorithm, body)):
        return 403, "Internal request contained invalid signature."
    return None


def is_due(key: SessionKey | None, now_ms: int, *, ttl_ms: int, algorithm: str, bits: int | None) -> bool:
    """Return whether the leader makes another; `ttl_ms` 0: never for its age."""
    if key is None or (ttl_ms > 0 and key.created_ms + ttl_ms <= now_ms):
        return True
    return key.algorithm.lower() != algorithm.lower() or len(key.secret) != key_bytes(algorithm, bits)


def key_record(key: SessionKey) -> Record:
    secret = base64.b64encode(key.secret).decode()
    return KEY.encode(), dump({"key": secret, "algorithm": key.algorithm, "creation-timestamp": key.created_ms})


def read_key(content: Any) -> SessionKey | None:
    """Read a session key; None for a record that no worker has written."""
    if not isinstance(content, dict):
        return None
    secret, algorithm, created = (content.get(name) for name in ("key", "algorithm", "creation-timestamp"))
    if not (isinstance(secret, str) and isinstance(algorithm, str) and type(created) is int):
        return None
    try:
        return SessionKey(base64.b64decode(secret, validate=True), algorithm, created)
    except ValueError:
        return None
