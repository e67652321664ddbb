"""A set of public keys (JWKS, RFC 7517) by which the signatures of bearer tokens are checked. Pure; but reading a set
and checking a signature take a millisecond, so that is done on a thread.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from broker.common.errors import BarnabasError
from broker.common.security_limits import BEARER_TOKEN_BYTES_MAX, KEY_ID_LENGTH_MAX, KEYS_IN_SET_MAX
from broker.security.bearer_tokens import TokenRefused

#: Shorter ones can be broken; much longer ones take long to check with.
_RSA_BITS_MIN, _RSA_BITS_MAX = 2_048, 8_192
_RSA_EXPONENT_BITS_MAX = 64
#: What else a key says of itself is not the library's to judge.
_KEY_MATERIAL = frozenset({"kty", "n", "e", "crv", "x", "y"})
_RSA_ALGORITHMS = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_EDWARDS_ALGORITHMS = frozenset({"EdDSA", "Ed25519"})
#: By curve: each belongs to one hash (RFC 7518).
_CURVE_ALGORITHMS = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}


class KeySetUnreadable(BarnabasError):
    """What was read is no set of keys that anything could be checked with."""


class PublicKey(NamedTuple):
    key: Any
    #: The algorithms it may be used with, whatever a token says.
    algorithms: frozenset[str]


KeySet = Mapping[str, PublicKey]


def read_key_set(data: bytes) -> KeySet:
    """Return the usable keys by id. Those of other kinds, uses and sizes are passed over. Raises KeySetUnreadable."""
    try:
        listed = json.loads(data)["keys"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise KeySetUnreadable("it is no JSON object with keys") from error
    if not isinstance(listed, list) or len(listed) > KEYS_IN_SET_MAX:
        raise KeySetUnreadable(f"its keys are no list of at most {KEYS_IN_SET_MAX}")
    keys: dict[str, PublicKey] = {}
    for key_id, key in _usable(listed):
        keys.setdefault(key_id, key)
    if not keys:
        raise KeySetUnreadable("it has no public key for signatures, with an id")
    return keys


def checked_payload(token: str, key: PublicKey, algorithm: str) -> bytes:
    """Return the token's payload if the key verifies its signature. Raises TokenRefused."""
    from joserfc.errors import JoseError
    from joserfc.jws import JWSRegistry, deserialize_compact

    if algorithm not in key.algorithms:
        raise TokenRefused("its algorithm is not that of the key it names")
    registry = JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    # Header fields that play no part here may be of any type.
    registry.header_registry.clear()
    # The library's own bounds are below those that the token was read within.
    registry.max_header_length = registry.max_payload_length = registry.max_signature_length = BEARER_TOKEN_BYTES_MAX
    try:
        signed = deserialize_compact(token, key.key, registry=registry)
    except (JoseError, ValueError, TypeError, NotImplementedError) as error:
        raise TokenRefused("its signature is not of the key it names") from error
    if "crit" in signed.headers():
        raise TokenRefused("it asks for an extension to be understood")
    return signed.payload


def _usable(listed: list[Any]) -> Iterator[tuple[str, PublicKey]]:
    from joserfc.errors import JoseError
    from joserfc.jwk import import_key

    for value in listed:
        try:
            if isinstance(value, dict) and _may_be_used(value):
                key = import_key({name: value[name] for name in _KEY_MATERIAL & value.keys()})
                algorithms = _algorithms_of(key.public_key)
                if value.get("alg"):
                    algorithms &= {value["alg"]}
                if algorithms:
                    yield value["kid"], PublicKey(key, algorithms)
        except (JoseError, ValueError, TypeError, OverflowError, KeyError):
            continue


def _may_be_used(jwk: dict[str, Any]) -> bool:
    key_id = jwk.get("kid")
    return (
        isinstance(key_id, str)
        and 0 < len(key_id) <= KEY_ID_LENGTH_MAX
        and jwk.get("kty") in ("RSA", "EC", "OKP")
        and jwk.get("use", "sig") == "sig"
        and "verify" in jwk.get("key_ops", ("verify",))
        and "d" not in jwk
    )


def _algorithms_of(key: Any) -> frozenset[str]:
    """Raises ValueError for a key that is none to check with."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    match key:
        case RSAPublicKey():
            is_usual = key.public_numbers().e.bit_length() <= _RSA_EXPONENT_BITS_MAX
            if is_usual and _RSA_BITS_MIN <= key.key_size <= _RSA_BITS_MAX:
                return _RSA_ALGORITHMS
        case EllipticCurvePublicKey() if key.curve.name in _CURVE_ALGORITHMS:
            return frozenset({_CURVE_ALGORITHMS[key.curve.name]})
        case Ed25519PublicKey():
            return _EDWARDS_ALGORITHMS
    raise ValueError("no key to check signatures with")
