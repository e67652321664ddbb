"""Delegation tokens kept by several brokers on a real ZooKeeper, and what the four APIs answer, in Kafka's order."""

import asyncio
import itertools
import json
from types import SimpleNamespace

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.create_delegation_token import handle_create_delegation_token
from broker.handlers.describe_delegation_token import handle_describe_delegation_token
from broker.handlers.expire_delegation_token import handle_expire_delegation_token
from broker.handlers.renew_delegation_token import handle_renew_delegation_token
from broker.net.turns import Turns
from broker.protocol.messages.create_delegation_token import CreatableRenewer, CreateDelegationTokenRequest
from broker.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from broker.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from broker.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from broker.runtime.requests.context import RequestContext
from broker.runtime.security.delegation_tokens import DelegationTokens, TokenSettings
from broker.runtime.security.token_accounts import TokenAccounts
from broker.security.delegation_tokens import Lifetimes, Principal
from broker.security.membership import MEMBER
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import UNLIMITED
from broker.security.session import ANONYMOUS, Session
from broker.zookeeper import watches
from broker.zookeeper.session import ZooKeeperSession
from tests.eventually import eventually
from tests.manual_clock import ManualClock
from tests.severable_proxy import SeverableProxy

ALICE, BOB = Principal("User", "alice"), Principal("User", "bob")
DAY_MS = 86_400_000
SETTINGS = TokenSettings(b"the cluster's", Lifetimes(7 * DAY_MS, DAY_MS), 3_600_000)
_chroots = itertools.count()


class NoRights:
    def may(self, *arguments):
        return False

    sees = may


class Only:
    def __init__(self, *allowed):
        self._allowed = allowed

    def may(self, *arguments):
        return arguments in self._allowed

    sees = may


@pytest.fixture
async def new_tokens(zookeeper):
    """Makes brokers' keepers of one cluster."""
    chroot, clock, opened = f"/tokens-{next(_chroots)}", ManualClock(), []

    async def start(settings=SETTINGS, is_controller=lambda: False, port=None) -> DelegationTokens:
        session = ZooKeeperSession(f"127.0.0.1:{port or zookeeper.port}{chroot}", 4_000)
        await session.connect(10_000)
        tokens = DelegationTokens(session, settings, clock, is_controller)
        opened.append((tokens, session))
        tokens.clock, tokens.session = clock, session
        await tokens.start()
        return tokens

    yield start
    for tokens, session in opened:
        tokens.stop()
        await session.close()


def context(tokens, principal="User:alice", rights=UNLIMITED, *, is_by_token=False, is_member=False) -> RequestContext:
    session = Session("127.0.0.1", "SASL_PLAINTEXT", principal, rights, is_member=is_member)
    session.is_by_token = is_by_token
    return RequestContext(SimpleNamespace(delegation_tokens=tokens, turns=Turns()), 3, "", session)


def ask(handler, request, tokens, **who):
    return handler(request, context(tokens, **who))


def code_of(error) -> ErrorCode:
    return error.value.code


# -- several brokers


async def test_a_token_made_at_one_broker_is_known_to_the_others_until_it_is_removed(new_tokens):
    one, other = await new_tokens(), await new_tokens()
    token, token_hmac = await one.create(ALICE, ALICE, (BOB,), -1)
    await eventually(lambda: other.get(token.token_id) == token, "the notice")
    assert other.hmac_of(token.token_id) == token_hmac
    await other.renew(token_hmac, BOB, 2 * DAY_MS)
    await eventually(lambda: one.get(token.token_id).expiry_ms == token.issued_ms + 2 * DAY_MS, "the renewal")
    await other.expire(token_hmac, ALICE, -1)
    assert other.get(token.token_id) is None
    await eventually(lambda: one.get(token.token_id) is None, "the removal")
    with pytest.raises(ApiError) as refused:
        await one.renew(token_hmac, ALICE, -1)
    assert code_of(refused) is ErrorCode.DELEGATION_TOKEN_NOT_FOUND


async def test_znodes_are_kafkas(new_tokens):
    tokens = await new_tokens()
    token, _ = await tokens.create(ALICE, BOB, (), 5)
    session = tokens.session
    stored = json.loads((await session.get(f"/delegation_token/tokens/{token.token_id}")).data)
    assert stored["owner"] == "User%3Aalice"
    assert stored["maxTimestamp"] - stored["issueTimestamp"] == 5
    names = await session.children("/delegation_token/token_changes")
    assert names == ["token_change_0000000000"]
    notice = await session.get("/delegation_token/token_changes/token_change_0000000000")
    assert notice.data == token.token_id.encode()


async def test_a_broker_that_starts_knows_what_there_is_and_passes_over_what_is_no_token(new_tokens):
    one = await new_tokens()
    token, _ = await one.create(ALICE, ALICE, (), -1)
    await one.session.create("/delegation_token/tokens/garbage", b"no token")
    await one.session.create("/delegation_token/tokens/garbage/below", b"")
    assert [token.token_id for token in await new_tokens()] == [token.token_id]


async def test_a_change_of_two_brokers_at_once_is_worked_out_from_what_the_other_wrote(new_tokens):
    """The second knows the token as it was: it looks, finds it gone, and does not bring it back."""
    one, other = await new_tokens(), await new_tokens()
    token, token_hmac = await one.create(ALICE, ALICE, (), -1)
    await eventually(lambda: other.get(token.token_id), "the notice")
    other.stop()
    await one.expire(token_hmac, ALICE, -1)
    with pytest.raises(ApiError) as refused:
        await other.renew(token_hmac, ALICE, -1)
    assert code_of(refused) is ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    assert other.get(token.token_id) is None
    assert await one.session.children("/delegation_token/tokens") == []


async def test_what_changed_while_a_broker_had_no_session_is_read_anew(zookeeper, new_tokens, monkeypatch):
    """Notices are kept for some minutes only, here for none."""
    one = await new_tokens()
    async with SeverableProxy(zookeeper.port) as proxy:
        cut_off = await new_tokens(port=proxy.port)
        stays, _ = await one.create(ALICE, ALICE, (), -1)
        goes, goes_hmac = await one.create(ALICE, ALICE, (), -1)
        await eventually(lambda: cut_off.get(goes.token_id), "the notice")
        identity = cut_off.session.identity
        proxy.cut()
        monkeypatch.setattr(watches, "CONFIG_CHANGE_KEPT_MS", 0)
        await one.expire(goes_hmac, ALICE, -1)
        async with asyncio.timeout(10):
            while await one.session.children("/delegation_token/token_changes"):
                await asyncio.sleep(0.01)
        await one.session.end_other(identity)
        proxy.mend()
        await eventually(lambda: cut_off.get(goes.token_id) is None, "read anew")
        assert cut_off.get(stays.token_id) == stays
        await cut_off.session.close()


async def test_only_the_controller_removes_tokens_that_are_over(new_tokens):
    is_controller = []
    settings = SETTINGS._replace(check_interval_ms=1)
    one = await new_tokens()
    await new_tokens(settings, lambda: False)
    over, _ = await one.create(ALICE, ALICE, (), 10)
    lives, _ = await one.create(ALICE, ALICE, (), -1)
    one.clock.advance(11)
    later, _ = await one.create(ALICE, ALICE, (), -1)
    assert one.get(over.token_id) == over
    controller = await new_tokens(settings, lambda: is_controller)
    is_controller.append(True)
    await eventually(lambda: one.get(over.token_id) is None, "removed")
    assert {token.token_id for token in controller} == {lives.token_id, later.token_id}


async def test_a_token_renewed_behind_the_controllers_back_is_not_removed(new_tokens):
    one, controller = await new_tokens(), await new_tokens()
    token, token_hmac = await one.create(ALICE, ALICE, (), -1)
    await eventually(lambda: controller.get(token.token_id), "the notice")
    controller.stop()
    await one.renew(token_hmac, ALICE, 3 * DAY_MS)
    one.clock.advance(2 * DAY_MS)
    await controller.remove_those_over()
    assert controller.get(token.token_id).expiry_ms == token.issued_ms + 3 * DAY_MS
    assert await one.session.children("/delegation_token/tokens") == [token.token_id]


# -- login


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_a_token_is_an_account_of_scram_at_every_broker_until_it_is_removed(new_tokens, mechanism):
    one, other = await new_tokens(), await new_tokens()
    accounts = TokenAccounts(other)
    token, token_hmac = await one.create(ALICE, BOB, (), -1)
    await eventually(lambda: other.get(token.token_id), "the notice")
    account = accounts.find(mechanism, token.token_id)
    assert account.principal == "User:alice"
    assert account.expires_ms == token.expiry_ms
    assert account.is_by_token
    assert accounts.find(mechanism, "another") is None
    await one.expire(token_hmac, ALICE, -1)
    await eventually(lambda: other.get(token.token_id) is None, "the removal")
    assert accounts.find(mechanism, token.token_id) is None
    assert not accounts._credentials


async def test_credentials_are_there_before_anybody_logs_in(new_tokens):
    tokens = await new_tokens()
    accounts = TokenAccounts(tokens)
    accounts.start()
    token, _ = await tokens.create(ALICE, ALICE, (), -1)
    await eventually(lambda: token.token_id in accounts._credentials, "derived on a thread")
    accounts.stop()


@pytest.mark.parametrize("owner", [Principal("Group", "admin"), Principal("User", "__cluster")])
async def test_nobody_becomes_another_kind_of_principal_by_a_token(new_tokens, owner):
    """Kafka logs the first one in as User:admin."""
    tokens = await new_tokens()
    token, _ = await tokens.create(owner, ALICE, (), -1)
    assert TokenAccounts(tokens).find("SCRAM-SHA-256", token.token_id) is None


# -- the order of checks

HMAC = b"unknown"
EVERY_API = [
    (handle_create_delegation_token, CreateDelegationTokenRequest()),
    (handle_renew_delegation_token, RenewDelegationTokenRequest(hmac=HMAC)),
    (handle_expire_delegation_token, ExpireDelegationTokenRequest(hmac=HMAC)),
    (handle_describe_delegation_token, DescribeDelegationTokenRequest(owners=None)),
]
every_api = pytest.mark.parametrize(("handler", "request_"), EVERY_API)
DISABLED = DelegationTokens(None, SETTINGS._replace(secret=b""), ManualClock(), lambda: False)


@every_api
@pytest.mark.parametrize(
    "who",
    [
        {"principal": ANONYMOUS},
        {"principal": MEMBER, "is_member": True},
        {"principal": "User:alice", "is_by_token": True},
    ],
)
async def test_nobody_asks_without_a_login_or_after_one_by_a_token(handler, request_, who):
    answer = await ask(handler, request_, DISABLED, **who)
    assert answer.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


@every_api
async def test_without_a_secret_there_are_no_tokens(handler, request_):
    answer = await ask(handler, request_, DISABLED)
    assert answer.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


@pytest.mark.parametrize(
    ("changes", "rights", "code"),
    [
        ({"owner_principal_type": "User", "owner_principal_name": "bob"}, NoRights(), 65),
        ({"renewers": [CreatableRenewer(principal_type="Group", principal_name="g")]}, NoRights(), 67),
        ({}, NoRights(), 61),
    ],
)
async def test_making_one_is_authorized_before_anything_else_is_said(changes, rights, code):
    answer = await ask(handle_create_delegation_token, CreateDelegationTokenRequest(**changes), DISABLED, rights=rights)
    assert answer.error_code == code
    assert answer.token_requester_principal_name == "alice"
    times = {answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms}
    assert (times, answer.hmac, answer.token_id) == ({0 if code == 61 else -1}, b"", "")


@pytest.mark.parametrize("name", [None, ""])
async def test_a_token_without_an_owner_is_ones_own(new_tokens, name):
    tokens = await new_tokens()
    request = CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name=name)
    answer = await ask(handle_create_delegation_token, request, tokens, rights=NoRights())
    assert (answer.error_code, answer.principal_type, answer.principal_name) == (0, "User", "alice")
    token = tokens.get(answer.token_id)
    assert token.owner == token.requester == ALICE
    assert answer.hmac == tokens.hmac_of(token.token_id)
    assert (answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms) == (
        token.issued_ms,
        token.expiry_ms,
        token.max_ms,
    )


async def test_renewers_too_many_to_be_stored_are_refused(new_tokens):
    tokens = await new_tokens()
    renewers = [CreatableRenewer(principal_type="User", principal_name="x" * 1000)] * 5
    answer = await ask(handle_create_delegation_token, CreateDelegationTokenRequest(renewers=renewers), tokens)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert list(tokens) == []


@pytest.mark.parametrize(
    ("handler", "request_of"),
    [
        (
            handle_renew_delegation_token,
            lambda token_hmac, period_ms: RenewDelegationTokenRequest(hmac=token_hmac, renew_period_ms=period_ms),
        ),
        (
            handle_expire_delegation_token,
            lambda token_hmac, period_ms: ExpireDelegationTokenRequest(
                hmac=token_hmac, expiry_time_period_ms=period_ms
            ),
        ),
    ],
    ids=["renew", "expire"],
)
async def test_changing_one_is_refused_in_kafkas_order(new_tokens, handler, request_of):
    tokens = await new_tokens()
    token, token_hmac = await tokens.create(ALICE, ALICE, (), 100)
    unknown = await ask(handler, request_of(b"x" * 64, 5), tokens, principal="User:bob")
    assert (unknown.error_code, unknown.expiry_timestamp_ms) == (62, -1)
    assert (await ask(handler, request_of(token_hmac, 5), tokens, principal="User:bob")).error_code == 63
    changed = await ask(handler, request_of(memoryview(token_hmac), 5), tokens, rights=NoRights())
    assert (changed.error_code, changed.expiry_timestamp_ms) == (0, token.issued_ms + 5)
    tokens.clock.advance(101)
    assert (await ask(handler, request_of(token_hmac, 5), tokens, principal="User:bob")).error_code == 63
    assert (await ask(handler, request_of(token_hmac, 5), tokens)).error_code == 66


async def test_one_that_is_over_can_still_be_removed(new_tokens):
    tokens = await new_tokens()
    token, token_hmac = await tokens.create(ALICE, ALICE, (), 100)
    tokens.clock.advance(101)
    request = ExpireDelegationTokenRequest(hmac=token_hmac, expiry_time_period_ms=-1)
    answer = await ask(handle_expire_delegation_token, request, tokens)
    assert (answer.error_code, answer.expiry_timestamp_ms) == (0, token.issued_ms + 101)
    assert await tokens.session.children("/delegation_token/tokens") == []


async def test_who_is_told_of_which_tokens(new_tokens):
    tokens = await new_tokens()
    own, _ = await tokens.create(ALICE, ALICE, (), -1)
    others, _ = await tokens.create(BOB, BOB, (), -1)
    renewable, _ = await tokens.create(BOB, BOB, (ALICE,), -1)

    async def told_tokens(owners, rights):
        if owners is not None:
            owners = [DescribeDelegationTokenOwner(principal_type="User", principal_name=name) for name in owners]
        request = DescribeDelegationTokenRequest(owners=owners)
        answer = await ask(handle_describe_delegation_token, request, tokens, rights=rights)
        assert answer.error_code == 0
        assert all(bytes(token.hmac) == tokens.hmac_of(token.token_id) for token in answer.tokens)
        return {token.token_id for token in answer.tokens}

    of_bob = Only((AclOperation.DESCRIBE_TOKENS, ResourceType.USER, "User:bob"))
    of_one = Only((AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, others.token_id))
    everything = {own.token_id, others.token_id, renewable.token_id}
    assert await told_tokens(None, NoRights()) == {own.token_id, renewable.token_id}
    assert await told_tokens(None, of_bob) == everything
    assert await told_tokens(None, of_one) == everything
    assert await told_tokens([], UNLIMITED) == set()
    assert await told_tokens(["bob"], NoRights()) == {renewable.token_id}
    assert await told_tokens(["bob"], UNLIMITED) == {others.token_id, renewable.token_id}
    assert await told_tokens(["alice"], NoRights()) == {own.token_id, renewable.token_id}
