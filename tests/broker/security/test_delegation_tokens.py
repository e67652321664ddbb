"""Rules of delegation tokens as tables: who may make, renew, end and see them, and until when they live."""

import hashlib
import hmac as reference_hmac

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.security_limits import DELEGATION_TOKENS_OF_ONE_MAX
from broker.security.delegation_tokens import (
    DelegationToken,
    KnownTokens,
    Lifetimes,
    Principal,
    check_parties,
    expire,
    hmac_of,
    is_shown,
    issue,
    parse_principal,
    renew,
)
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import UNLIMITED

ALICE, BOB, CAROL = (Principal("User", name) for name in ("alice", "bob", "carol"))
DAY_MS = 86_400_000
LIFETIMES = Lifetimes(7 * DAY_MS, DAY_MS)
NOW_MS = 1_700_000_000_000
LONG_MAX = 2**63 - 1


class Only:
    """Rights to nothing but what is named."""

    def __init__(self, *allowed):
        self._allowed = allowed

    def may(self, *arguments):
        return arguments in self._allowed

    sees = may


def token(**changes) -> DelegationToken:
    made = DelegationToken("id", ALICE, ALICE, (BOB,), NOW_MS, NOW_MS + 7 * DAY_MS, NOW_MS + DAY_MS)
    return made._replace(**changes)


def code_of(function, *arguments) -> ErrorCode:
    with pytest.raises(ApiError) as refused:
        function(*arguments)
    return refused.value.code


def test_the_hmac_is_kafkas():
    expected = reference_hmac.new(b"secret", b"some-id", hashlib.sha512).digest()
    assert hmac_of(b"secret", "some-id") == expected


@pytest.mark.parametrize("text", ["", "User", "User:", ":alice"])
def test_what_is_no_principal(text):
    with pytest.raises(ValueError, match="Type:name"):
        parse_principal(text)


def test_a_principal_is_split_at_the_first_colon():
    assert parse_principal("User:a:b") == Principal("User", "a:b")


@pytest.mark.parametrize(
    ("asked_ms", "max_ms", "expiry_ms"),
    [
        (-1, 7 * DAY_MS, DAY_MS),
        (0, 7 * DAY_MS, DAY_MS),
        (5, 5, 5),
        (2 * DAY_MS, 2 * DAY_MS, DAY_MS),
        (8 * DAY_MS, 7 * DAY_MS, DAY_MS),
        (LONG_MAX, 7 * DAY_MS, DAY_MS),
    ],
)
def test_a_new_token_lives_as_long_as_is_asked_and_allowed(asked_ms, max_ms, expiry_ms):
    made = issue("id", (ALICE, BOB, ()), asked_ms, LIFETIMES, NOW_MS)
    assert made == DelegationToken("id", ALICE, BOB, (), NOW_MS, NOW_MS + max_ms, NOW_MS + expiry_ms)


@pytest.mark.parametrize(
    ("owner", "renewers", "rights", "code"),
    [
        (ALICE, (BOB,), Only(), None),
        (BOB, (), Only(), ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED),
        (BOB, (), Only((AclOperation.CREATE_TOKENS, ResourceType.USER, "User:bob")), None),
        (BOB, (), Only((AclOperation.CREATE_TOKENS, ResourceType.USER, "bob")), 65),
        (ALICE, (BOB, Principal("Group", "g")), UNLIMITED, ErrorCode.INVALID_PRINCIPAL_TYPE),
        # Authorization comes first.
        (BOB, (Principal("Group", "g"),), Only(), ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED),
        # Who logs in by it would be User:admin.
        (Principal("Group", "admin"), (), UNLIMITED, ErrorCode.INVALID_PRINCIPAL_TYPE),
        (Principal("user", "alice"), (), Only(), ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED),
    ],
)
def test_who_may_have_a_token_made(owner, renewers, rights, code):
    if code is None:
        check_parties(owner, ALICE, renewers, rights)
    else:
        assert code_of(check_parties, owner, ALICE, renewers, rights) == code


@pytest.mark.parametrize(
    ("asker", "period_ms", "after_ms", "outcome"),
    [
        (ALICE, -1, 5, 5 + DAY_MS),
        (BOB, -1, 5, 5 + DAY_MS),
        (ALICE, 0, 5, 5),
        (ALICE, 100, 5, 105),
        (ALICE, LONG_MAX, 5, 7 * DAY_MS),
        (CAROL, -1, 5, ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH),
        (ALICE, -1, DAY_MS, 2 * DAY_MS),
        (ALICE, -1, DAY_MS + 1, ErrorCode.DELEGATION_TOKEN_EXPIRED),
        (CAROL, -1, DAY_MS + 1, ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH),
    ],
)
def test_renewing_as_far_as_the_end(asker, period_ms, after_ms, outcome):
    arguments = (token(), asker, period_ms, LIFETIMES, NOW_MS + after_ms)
    if isinstance(outcome, ErrorCode):
        assert code_of(renew, *arguments) is outcome
    else:
        assert renew(*arguments) == token(expiry_ms=NOW_MS + outcome)


@pytest.mark.parametrize(
    ("asker", "period_ms", "after_ms", "outcome"),
    [
        (ALICE, 100, 5, 105),
        (BOB, LONG_MAX, 5, 7 * DAY_MS),
        (ALICE, -1, 5, None),
        (ALICE, -1, 8 * DAY_MS, None),
        (ALICE, 0, DAY_MS + 1, ErrorCode.DELEGATION_TOKEN_EXPIRED),
        (CAROL, -1, 5, ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH),
        (CAROL, -1, 8 * DAY_MS, ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH),
    ],
)
def test_expiring_sooner_or_at_once(asker, period_ms, after_ms, outcome):
    arguments = (token(), asker, period_ms, NOW_MS + after_ms)
    if isinstance(outcome, ErrorCode):
        assert code_of(expire, *arguments) is outcome
    else:
        assert expire(*arguments) == (None if outcome is None else token(expiry_ms=NOW_MS + outcome))


DESCRIBE_IT = Only((AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, "id"))
DESCRIBE_ALICES = Only((AclOperation.DESCRIBE_TOKENS, ResourceType.USER, "User:alice"))


@pytest.mark.parametrize(
    ("owners", "asker", "rights", "shown"),
    [
        (None, ALICE, Only(), True),
        (None, BOB, Only(), True),
        (None, CAROL, Only(), False),
        (None, CAROL, DESCRIBE_IT, True),
        (None, CAROL, DESCRIBE_ALICES, True),
        ({ALICE}, CAROL, DESCRIBE_IT, True),
        ({BOB}, ALICE, Only(), True),
        ({CAROL}, ALICE, UNLIMITED, False),
        ({ALICE, CAROL}, CAROL, Only(), False),
    ],
)
def test_which_tokens_are_shown(owners, asker, rights, shown):
    assert is_shown(token(), owners and frozenset(owners), asker, rights) is shown


def test_a_removed_token_is_not_found_by_its_hmac():
    known = KnownTokens(b"secret")
    known.put(token())
    assert known.by_hmac(hmac_of(b"secret", "id")) == token()
    known.remove("id")
    assert known.get("id") is None
    assert code_of(known.by_hmac, hmac_of(b"secret", "id")) is ErrorCode.DELEGATION_TOKEN_NOT_FOUND


def test_one_requester_cannot_take_all_the_room():
    known = KnownTokens(b"secret")
    for number in range(DELEGATION_TOKENS_OF_ONE_MAX):
        known.put(token(token_id=str(number)))
    known.put(token(token_id="0", expiry_ms=0))
    assert code_of(known.require_room, ALICE) is ErrorCode.POLICY_VIOLATION
    known.require_room(BOB)
    known.remove("0")
    known.require_room(ALICE)
