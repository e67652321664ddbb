"""Whether an ID token is one for us, for this attempt and for now, and whom it names. Pure.

OpenID Connect Core 3.1.3.7. The library checks signatures and claims; which algorithms and sizes are taken, and what
may be missing, is decided here.
"""

from collections.abc import Collection
from dataclasses import dataclass

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from console.people.sso.bounds import SKEW_S, SUBJECT_LENGTH_MAX, TOKEN_BYTES_MAX
from console.people.sso.errors import LoginRefusedError

#: Signatures by a key that only the provider has: neither `none` nor any secret that we hold too.
ALGORITHMS = frozenset(
    ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
)


class UnknownKeyError(LoginRefusedError):
    """The token is signed with a key that was not there when the keys were asked for."""


class _Registry(JWSRegistry):
    max_header_length = 4_096
    max_payload_length = TOKEN_BYTES_MAX


@dataclass(frozen=True, slots=True)
class ExpectedClaims:
    """What a token has to say. `algorithms` are those the provider says it signs with; none: it says nothing."""

    issuer: str
    client_id: str
    nonce: str
    algorithms: Collection[str] = ()


def verified_claims(
    token: object, keys: KeySet, expected: ExpectedClaims, access_token: str, now_s: int
) -> dict[str, object]:
    """Return the claims of a token that is whole. Raises UnknownKeyError, LoginRefusedError."""
    allowed = ALGORITHMS.intersection(expected.algorithms) if expected.algorithms else ALGORITHMS
    if not allowed or not isinstance(token, str):  # the library reads an empty list as its own
        raise LoginRefusedError("no ID token, or the provider signs it by no method that is taken")
    try:
        decoded = jwt.decode(token, keys, registry=_Registry(algorithms=sorted(allowed), strict_check_header=False))
        options = {
            "iss": {"essential": True, "values": [expected.issuer]},
            "aud": {"essential": True, "values": [expected.client_id]},
        }
        params = {"nonce": expected.nonce, "client_id": expected.client_id, "access_token": access_token}
        claims = CodeIDToken(decoded.claims, decoded.header, options, params)
        claims.validate(now_s, SKEW_S)
    except (InvalidKeyIdError, BadSignatureError) as error:
        raise UnknownKeyError("the ID token is signed with a key that is not known") from error
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise LoginRefusedError(f"the ID token: {type(error).__name__} {str(error)[:100]!r}") from error
    subject = claims["sub"]
    if not 0 < len(subject) <= SUBJECT_LENGTH_MAX or not subject.isascii() or not subject.isprintable():
        raise LoginRefusedError("the ID token's subject is none")
    return dict(claims)
