"""Delegation tokens (KIP-48, KIP-373): secrets by which the programs of a user log in for a while, and who may make,
renew, end and see them. Pure.

A token's password is an HMAC of its id under a key that all brokers of a cluster have, so that it need not be stored.
"""

import hmac
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.security_limits import DELEGATION_TOKENS_MAX, DELEGATION_TOKENS_OF_ONE_MAX
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import Rights

USER = "User"


class Principal(NamedTuple):
    """Kafka's: equal by type and name."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


def parse_principal(text: str) -> Principal:
    """Parse `Type:name`; the name may have further colons. Raises ValueError."""
    kind, colon, name = text.partition(":")
    if not (kind and colon and name):
        raise ValueError(f"{text!r:.300} is not Type:name")
    return Principal(kind, name)


class DelegationToken(NamedTuple):
    """What is stored of a token; times in ms since 1970."""

    token_id: str
    owner: Principal
    #: Who asked for it, the owner or somebody who may.
    requester: Principal
    renewers: tuple[Principal, ...]
    issued_ms: int
    #: Its end, however often it is renewed.
    max_ms: int
    expiry_ms: int

    def is_over(self, now_ms: int) -> bool:
        return self.max_ms < now_ms or self.expiry_ms < now_ms

    def may_be_changed_by(self, principal: Principal) -> bool:
        return principal == self.owner or principal in self.renewers


class Lifetimes(NamedTuple):
    """The values of `delegation.token.max.lifetime.ms` and `delegation.token.expiry.time.ms`."""

    max_ms: int
    until_renewed_ms: int


def hmac_of(secret: bytes, token_id: str) -> bytes:
    return hmac.digest(secret, token_id.encode(), "sha512")


def check_parties(owner: Principal, requester: Principal, renewers: Iterable[Principal], rights: Rights) -> None:
    """Check that the requester may create the token. Raises ApiError, in Kafka's order.

    Kafka looks at the types of renewers only; but whoever logs in by a token is User:<name of the owner>, so a token
    for another type would make its holder somebody else.
    """
    if owner != requester and not rights.may(AclOperation.CREATE_TOKENS, ResourceType.USER, str(owner)):
        raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
    if any(principal.type != USER for principal in (owner, *renewers)):
        raise ApiError(ErrorCode.INVALID_PRINCIPAL_TYPE)


def issue(
    token_id: str,
    parties: tuple[Principal, Principal, tuple[Principal, ...]],
    asked_ms: int,
    lifetimes: Lifetimes,
    now_ms: int,
) -> DelegationToken:
    """Issue a token. `parties` are owner, requester and renewers; `asked_ms` not above 0 is as long as it may be."""
    lives_ms = min(asked_ms, lifetimes.max_ms) if asked_ms > 0 else lifetimes.max_ms
    max_ms = now_ms + lives_ms
    return DelegationToken(token_id, *parties, now_ms, max_ms, min(max_ms, now_ms + lifetimes.until_renewed_ms))


def renew(
    token: DelegationToken, asker: Principal, period_ms: int, lifetimes: Lifetimes, now_ms: int
) -> DelegationToken:
    """Return the token with a new expiry. Raises ApiError."""
    _require_changer(token, asker)
    return _expiring_in(token, lifetimes.until_renewed_ms if period_ms < 0 else period_ms, now_ms)


def expire(token: DelegationToken, asker: Principal, period_ms: int, now_ms: int) -> DelegationToken | None:
    """Return the token with a new expiry; None if it goes at once, as an expired one does (KAFKA-13771).

    Raises ApiError.
    """
    _require_changer(token, asker)
    return None if period_ms < 0 else _expiring_in(token, period_ms, now_ms)


def _require_changer(token: DelegationToken, asker: Principal) -> None:
    if not token.may_be_changed_by(asker):
        raise ApiError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)


def _expiring_in(token: DelegationToken, period_ms: int, now_ms: int) -> DelegationToken:
    if token.is_over(now_ms):
        raise ApiError(ErrorCode.DELEGATION_TOKEN_EXPIRED)
    return token._replace(expiry_ms=min(token.max_ms, now_ms + period_ms))


def is_shown(token: DelegationToken, owners: frozenset[Principal] | None, asker: Principal, rights: Rights) -> bool:
    """Return whether the asker may see the token; `owners` are those of the request (None: any)."""
    if owners is not None and not any(token.may_be_changed_by(owner) for owner in owners):
        return False
    return (
        token.may_be_changed_by(asker)
        or rights.sees(AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)
        or rights.sees(AclOperation.DESCRIBE_TOKENS, ResourceType.USER, str(token.owner))
    )


class KnownTokens:
    """All tokens a broker has heard of, found by id or by HMAC."""

    def __init__(self, secret: bytes):
        self._secret = secret
        self._by_id: dict[str, DelegationToken] = {}
        self._ids: dict[bytes, str] = {}
        self._of_requester: Counter[Principal] = Counter()

    def __iter__(self) -> Iterator[DelegationToken]:
        return iter(tuple(self._by_id.values()))

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, token_id: str) -> DelegationToken | None:
        return self._by_id.get(token_id)

    def by_hmac(self, token_hmac: bytes) -> DelegationToken:
        """Raise ApiError(DELEGATION_TOKEN_NOT_FOUND) for an unknown HMAC."""
        token_id = self._ids.get(token_hmac)
        if token_id is None:
            raise ApiError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        return self._by_id[token_id]

    def hmac_of(self, token_id: str) -> bytes:
        return hmac_of(self._secret, token_id)

    def put(self, token: DelegationToken) -> None:
        self.remove(token.token_id)
        self._by_id[token.token_id] = token
        self._ids[self.hmac_of(token.token_id)] = token.token_id
        self._of_requester[token.requester] += 1

    def remove(self, token_id: str) -> None:
        token = self._by_id.pop(token_id, None)
        if token is not None:
            del self._ids[self.hmac_of(token_id)]
            self._of_requester[token.requester] -= 1
            if not self._of_requester[token.requester]:
                del self._of_requester[token.requester]
            self._of_requester += Counter()

    def require_room(self, requester: Principal) -> None:
        """ApiError POLICY_VIOLATION if there are too many tokens, or too many of this requester."""
        if len(self) >= DELEGATION_TOKENS_MAX or self._of_requester[requester] >= DELEGATION_TOKENS_OF_ONE_MAX:
            raise ApiError(ErrorCode.POLICY_VIOLATION, "there are too many delegation tokens; end some first")
