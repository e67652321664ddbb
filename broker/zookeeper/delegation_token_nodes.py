"""Delegation tokens in ZooKeeper, as Kafka stores them: a znode for each, and a numbered notice of each change. Pure.

Names of principals are written as Kafka's Sanitizer does, and the HMAC is not written at all.
"""

import re
from typing import Any

from broker.security.delegation_tokens import DelegationToken, Principal, parse_principal
from broker.security.sanitized_names import desanitized, sanitized
from broker.zookeeper.errors import MalformedZnode
from broker.zookeeper.json_fields import decode_fields, encode_fields

ROOT = "/delegation_token"
TOKENS = f"{ROOT}/tokens"
CHANGES = f"{ROOT}/token_changes"
CHANGE_PREFIX = f"{CHANGES}/token_change_"

_VERSION = 3
_TOKEN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_INT64_MAX = 2**63 - 1


def token_path(token_id: str) -> str:
    return f"{TOKENS}/{token_id}"


def is_token_id(name: str) -> bool:
    """Return whether a token can have that id; Kafka's are 22 letters and digits."""
    return _TOKEN_ID.fullmatch(name) is not None


def encode_token(token: DelegationToken) -> bytes:
    return encode_fields(
        {
            "version": _VERSION,
            "owner": sanitized(str(token.owner)),
            "tokenRequester": sanitized(str(token.requester)),
            "renewers": [sanitized(str(renewer)) for renewer in token.renewers],
            "issueTimestamp": token.issued_ms,
            "maxTimestamp": token.max_ms,
            "expiryTimestamp": token.expiry_ms,
            "tokenId": token.token_id,
        }
    )


def decode_token(token_id: str, data: bytes) -> DelegationToken:
    """Decode a token; before version 3 (KIP-373) its requester was its owner."""
    path = token_path(token_id)
    fields = decode_fields(path, data)
    try:
        if not 1 <= int(fields["version"]) <= _VERSION or fields["tokenId"] != token_id:
            raise ValueError("another version, or the token of another znode")
        owner = _principal(fields["owner"])
        return DelegationToken(
            token_id,
            owner,
            _principal(fields["tokenRequester"]) if int(fields["version"]) >= _VERSION else owner,
            tuple(_principal(renewer) for renewer in fields["renewers"]),
            *(_time(fields[name]) for name in ("issueTimestamp", "maxTimestamp", "expiryTimestamp")),
        )
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise MalformedZnode(f"{path} holds no token: {error!s:.300}") from error


def decode_change(path: str, data: bytes) -> str:
    """Return the id of the token that was changed."""
    token_id = data.decode(errors="replace")
    if not is_token_id(token_id):
        raise MalformedZnode(f"{path} names no token")
    return token_id


def _principal(text: Any) -> Principal:
    return parse_principal(desanitized(text))


def _time(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _INT64_MAX:
        raise ValueError("a time is no number of milliseconds")
    return value
