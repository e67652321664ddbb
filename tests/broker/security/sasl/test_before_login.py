"""What nobody who has not logged in is given: any API in any version, or by a login that was overheard."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest
from broker.security.sasl.phases import ListenerOffer, LoginFailure, LoginPhase, Phases, SaslChallenge, Success
from broker.security.sasl.scram_server import ScramServer, unknown_user_accounts
from broker.security.sasl.server import ScramAccount
from broker.security.scram import MECHANISM, ClientExchange, credential_of, derive_keys

pytestmark = pytest.mark.versions

NOW_MS = 1_700_000_000_000
SALT = b"0123456789abcdefghijklmnop"
KEYS = derive_keys(b"secret", SALT, 4096)
ACCOUNT = ScramAccount(credential_of(KEYS, SALT, 4096), "User:alice", None)
#: Every API there is, in every version of it, one version to either side, and numbers that are no API.
ASKED = [
    (api, version)
    for api in ApiKey
    for first, last in [MESSAGES[api].request.versions if api in MESSAGES else (0, 0)]
    for version in range(first - 1, last + 2)
] + [(number, 0) for number in (-32_768, -1, 99, 999, 19_999, 32_767)]
OF_A_LOGIN = {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE}


def login(nonce: str = "server") -> Phases:
    strangers = unknown_user_accounts(b"cluster", lambda _mechanism: ACCOUNT.credential)
    accounts = {"alice": ACCOUNT}

    def begin() -> ScramServer:
        return ScramServer(MECHANISM, lambda user, _extensions: accounts.get(user), strangers, nonce)

    return Phases(ListenerOffer({MECHANISM: begin}, (MECHANISM,), {}, lambda _mechanism, _client_id: False))


def headed(api: int, version: int, body: bytes = b"") -> memoryview:
    return memoryview(encode_request_header(RequestHeader(api, version, 7, "tester")) + body)


def handshake(version: int) -> memoryview:
    return headed(ApiKey.SASL_HANDSHAKE, version, encode(SaslHandshakeRequest(mechanism=MECHANISM), version))


def enveloped(token: bytes) -> memoryview:
    return headed(ApiKey.SASL_AUTHENTICATE, 2, encode(SaslAuthenticateRequest(auth_bytes=token), 2))


@pytest.mark.parametrize(("api", "version"), [item for item in ASKED if item[0] not in OF_A_LOGIN])
def test_before_the_handshake_no_api_is_answered_in_any_version(api, version):
    phases = login()
    step = phases.on_frame(headed(api, version, b"any body"), NOW_MS)
    assert isinstance(step, LoginFailure)
    assert (step.answer, phases.phase) == ((), LoginPhase.OVER)
    assert step.reason


@pytest.mark.parametrize(("api", "version"), [item for item in ASKED if item[0] != ApiKey.SASL_AUTHENTICATE])
def test_among_tokens_no_api_says_more_than_that_it_is_out_of_order(api, version):
    phases = login()
    phases.on_frame(handshake(1), NOW_MS)
    step = phases.on_frame(headed(api, version, b"any body"), NOW_MS)
    assert isinstance(step, LoginFailure)
    assert phases.phase is LoginPhase.OVER
    if step.answer:
        data = b"".join(bytes(part) for part in step.answer)[4:]
        at = decode_response_header(api, version, data)[1]
        bare = MESSAGES[api].response(error_code=ErrorCode.ILLEGAL_SASL_STATE)
        assert decode(MESSAGES[api].response, data[at:], version) == bare


def tokens_of(phases: Phases, wrap) -> list[bytes]:
    """Logs alice in; what she said."""
    client = ClientExchange("alice", lambda _salt, _iterations: KEYS, "client")
    first = client.first()
    step = phases.on_frame(wrap(first), NOW_MS)
    assert isinstance(step, SaslChallenge)
    sent_bytes = b"".join(bytes(part) for part in step.parts)
    final = client.final(sent_bytes[sent_bytes.index(b"r=client") :].split(b"\0")[0])
    assert isinstance(phases.on_frame(wrap(final), NOW_MS), Success)
    return [first, final]


@pytest.mark.parametrize(("version", "wrap"), [(0, memoryview), (1, enveloped)])
def test_a_login_that_was_overheard_lets_nobody_in(version, wrap):
    heard = login()
    heard.on_frame(handshake(version), NOW_MS)
    first, final = tokens_of(heard, wrap)
    for tokens in ([first, final], [final], [final, first], [first, first], [first, final, final]):
        phases = login(nonce="another")
        phases.on_frame(handshake(version), NOW_MS)
        steps = [phases.on_frame(wrap(token), NOW_MS) for token in tokens]
        assert not any(isinstance(step, Success) for step in steps)
        assert phases.phase is LoginPhase.OVER


@pytest.mark.parametrize(("version", "wrap"), [(0, memoryview), (1, enveloped)])
def test_who_has_logged_in_cannot_say_the_last_token_again(version, wrap):
    phases = login()
    phases.on_frame(handshake(version), NOW_MS)
    final = tokens_of(phases, wrap)[1]
    assert isinstance(phases.on_frame(wrap(final), NOW_MS), LoginFailure)
