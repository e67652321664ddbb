"""What a bearer token must say to be believed: the header before its signature is looked at, the claims afterwards
(RFC 7519; what Kafka's OAuthBearerValidatorCallbackHandler asks for). Pure.
"""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from broker.common.errors import BarnabasError
from broker.common.security_limits import BEARER_HEADER_BYTES_MAX, BEARER_TOKEN_BYTES_MAX, KEY_ID_LENGTH_MAX
from broker.security.membership import CLUSTER_USER

#: With a private key to sign and a public one to check. Never a shared secret, never none.
ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
#: A time beyond it is not meant; in milliseconds it still fits into 63 bits.
_SECONDS_MAX = 1 << 52


class TokenRefused(BarnabasError):
    """The token is not believed. The reason is for the log; it holds nothing of the token that was not checked."""


class TokenHeader(NamedTuple):
    key_id: str
    algorithm: str


class BearerRules(NamedTuple):
    """`sasl.oauthbearer.*`: what the claims must be."""

    issuer: str | None = None
    #: A token must be for one of them; one that names any is refused if there are none.
    audiences: tuple[str, ...] = ()
    clock_skew_ms: int = 30_000
    subject_claim: str = "sub"
    scope_claim: str = "scope"
    #: Whether a token has to say when it was issued.
    needs_issue_time: bool = True
    checks_audience: bool = True


class Bearer(NamedTuple):
    """The owner of an accepted token, and its expiry."""

    name: str
    expires_ms: int


def read_header(token: str) -> TokenHeader:
    """Return which key signs the token, unverified so far. Raises TokenRefused."""
    if len(token) > BEARER_TOKEN_BYTES_MAX:
        raise TokenRefused(f"a token of {len(token)} bytes")
    header = token.partition(".")[0]
    if len(header) > BEARER_HEADER_BYTES_MAX or not _COMPACT.fullmatch(token):
        raise TokenRefused("no signed token in compact form")
    try:
        fields = read_object(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except ValueError as error:
        raise TokenRefused("its header cannot be read") from error
    algorithm, key_id = fields.get("alg"), fields.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise TokenRefused("its algorithm is none that is accepted")
    if not isinstance(key_id, str) or not 0 < len(key_id) <= KEY_ID_LENGTH_MAX:
        raise TokenRefused("it names no key, or not as a text of a bounded length")
    return TokenHeader(key_id, algorithm)


def read_claims(payload: bytes, rules: BearerRules, now_ms: int) -> Bearer:
    """Return the bearer of a token whose signature is verified. Raises TokenRefused."""
    try:
        claims = read_object(payload)
    except ValueError as error:
        raise TokenRefused("its claims cannot be read") from error
    expires_ms = _check_times(claims, rules, now_ms)
    if rules.issuer is not None and claims.get("iss") != rules.issuer:
        raise TokenRefused("another issuer")
    if rules.checks_audience:
        _check_audience(claims, rules.audiences)
    _check_scopes(claims.get(rules.scope_claim))
    return Bearer(_subject(claims, rules.subject_claim), expires_ms)


def read_object(data: bytes) -> dict[str, Any]:
    """Return a JSON object. Raises ValueError for anything else."""
    try:
        fields = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(fields, dict):
        raise ValueError("no JSON object")
    return fields


def _check_times(claims: Mapping[str, Any], rules: BearerRules, now_ms: int) -> int:
    """Return when the token expires. Raises TokenRefused."""
    expires_ms, issued_ms, skew_ms = _time_ms(claims, "exp"), _time_ms(claims, "iat"), rules.clock_skew_ms
    if expires_ms is None or (issued_ms is None and rules.needs_issue_time):
        raise TokenRefused("exp or iat is missing")
    if expires_ms + skew_ms <= now_ms:
        raise TokenRefused("it has expired")
    if (issued_ms or 0) - skew_ms > now_ms or (_time_ms(claims, "nbf") or 0) - skew_ms > now_ms:
        raise TokenRefused("it is not valid yet")
    return expires_ms


def _time_ms(claims: Mapping[str, Any], name: str) -> int | None:
    value = claims.get(name)
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value <= _SECONDS_MAX:
        raise TokenRefused(f"{name} is no time")
    return int(value * 1000)


def _check_audience(claims: Mapping[str, Any], expected: tuple[str, ...]) -> None:
    audience = claims.get("aud")
    if audience is None and not expected:
        return
    named = [audience] if isinstance(audience, str) else audience
    if not isinstance(named, list) or not any(name in expected for name in named if isinstance(name, str)):
        raise TokenRefused("it is for another audience")


def _check_scopes(scopes: Any) -> None:
    """Check the scopes, which do not affect a user's rights. A text is one scope, as in Kafka."""
    if scopes is None or isinstance(scopes, str):
        return
    if not isinstance(scopes, list) or not all(isinstance(scope, str) and scope.strip() for scope in scopes):
        raise TokenRefused("its scope is no list of texts")
    if len({scope.strip() for scope in scopes}) < len(scopes):
        raise TokenRefused("a scope is named twice")


def _subject(claims: Mapping[str, Any], claim: str) -> str:
    """Return the claim's text. The cluster's own members authenticate by the cluster's secret: no issuer speaks for
    them.
    """
    subject = claims.get(claim)
    name = subject.strip() if isinstance(subject, str) else ""
    if not name or name == CLUSTER_USER or not name.isprintable():
        raise TokenRefused("it names no user")
    return name
