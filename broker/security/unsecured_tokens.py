"""Unsigned bearer tokens, for development, as Kafka's unsecured validator takes them. Pure.

Anyone can write such a token and be any user. A listener takes them only where its settings name the validator.
"""

import base64
import re

from broker.common.security_limits import BEARER_TOKEN_BYTES_MAX
from broker.security.bearer_tokens import Bearer, BearerRules, TokenRefused, read_claims, read_object

#: The class of Kafka that does it, by which a listener asks for it.
VALIDATOR = (
    "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
)
_UNSIGNED = re.compile(r"(?P<header>[A-Za-z0-9_-]+)\.(?P<claims>[A-Za-z0-9_-]+)\.")


def read_unsecured(token: str, rules: BearerRules, now_ms: int) -> Bearer:
    """Return whom a token without a signature names. Raises TokenRefused."""
    match = _UNSIGNED.fullmatch(token) if len(token) <= BEARER_TOKEN_BYTES_MAX else None
    if match is None:
        raise TokenRefused("no token without a signature in compact form")
    try:
        header = read_object(_decoded(match["header"]))
        claims = _decoded(match["claims"])
    except ValueError as error:
        raise TokenRefused("its header or claims cannot be read") from error
    if header.get("alg") != "none":
        raise TokenRefused("its algorithm is not none")
    return read_claims(claims, rules, now_ms)


def _decoded(segment: str) -> bytes:
    """Raises ValueError."""
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
