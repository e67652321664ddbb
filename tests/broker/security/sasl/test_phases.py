"""What a frame is answered in each phase of a login: every API out of order, every version, every mechanism."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest
from broker.security.sasl.phases import (
    AsAlways,
    Earlier,
    ListenerOffer,
    LoginFailure,
    Phases,
    SaslChallenge,
    Success,
    Wait,
)
from broker.security.sasl.server import AuthenticationError, LoggedIn

NOW_MS = 1_700_000_000_000
INTRODUCTION = ApiVersionsRequest(client_software_name="tester", client_software_version="1.0")


class Script:
    """A mechanism that says what it was told to say."""

    def __init__(self, *replies):
        self._replies = list(replies)
        self.heard = []

    def respond(self, token):
        self.heard.append(token)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def phases(*replies, earlier=None, reauth_ms=0) -> Phases:
    offer = ListenerOffer(
        {"PLAIN": lambda: Script(*replies), "SCRAM-SHA-256": lambda: Script(*replies)},
        ("PLAIN",),
        {"PLAIN": reauth_ms},
        lambda mechanism, client_id: client_id == "member",
    )
    return Phases(offer, earlier)


def frame(message, version: int, client_id: str | None = "tester") -> memoryview:
    header = encode_request_header(RequestHeader(message.api, version, 7, client_id))
    return memoryview(header + encode(message, version))


def headed(api: int, version: int, body: bytes = b"") -> memoryview:
    return memoryview(encode_request_header(RequestHeader(api, version, 7, "tester")) + body)


def answered(parts, api: ApiKey, version: int):
    data = b"".join(bytes(part) for part in parts)
    assert int.from_bytes(data[:4]) == len(data) - 4
    correlation_id, at = decode_response_header(api, version, data[4:])
    assert correlation_id == 7
    return decode(MESSAGES[api].response, data[4 + at :], version)


def shaken(*replies, version: int = 1, **settings) -> Phases:
    login = phases(*replies, **settings)
    step = login.on_frame(frame(SaslHandshakeRequest(mechanism="PLAIN"), version), NOW_MS)
    assert answered(step.parts, ApiKey.SASL_HANDSHAKE, version).error_code == ErrorCode.NONE
    return login


def authenticate(login: Phases, token: bytes = b"token", version: int = 2):
    return login.on_frame(frame(SaslAuthenticateRequest(auth_bytes=token), version), NOW_MS)


# -- before the handshake


@pytest.mark.parametrize("version", range(5))
def test_api_versions_is_asked_once(version):
    login = phases()
    assert login.on_frame(frame(INTRODUCTION, version), NOW_MS) == AsAlways()
    again = login.on_frame(frame(INTRODUCTION, version), NOW_MS)
    assert (again.answer, again.is_delayed) == ((), False)
    assert "ApiVersions" in again.reason


@pytest.mark.parametrize(
    "frame_bytes",
    [
        headed(ApiKey.API_VERSIONS, 99, b"whatever"),
        frame(ApiVersionsRequest(client_software_name="a b", client_software_version="1"), 3),
        frame(ApiVersionsRequest(client_software_name="", client_software_version="1"), 3),
        frame(ApiVersionsRequest(client_software_name="a", client_software_version="-1"), 4),
    ],
)
def test_who_was_refused_the_list_of_versions_may_ask_again(frame_bytes):
    login = phases()
    for _ in range(3):
        assert login.on_frame(frame_bytes, NOW_MS) == AsAlways()
    assert login.on_frame(frame(INTRODUCTION, 3), NOW_MS) == AsAlways()


@pytest.mark.parametrize("has_asked", [False, True])
@pytest.mark.parametrize("api", [item for item in ApiKey if item not in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE)])
def test_nothing_else_is_answered_before_the_handshake(api, has_asked):
    login = phases()
    if has_asked:
        login.on_frame(frame(INTRODUCTION, 3), NOW_MS)
    step = login.on_frame(headed(api, 0, b"any body"), NOW_MS)
    assert step == LoginFailure(f"Unexpected Kafka request of type {api.name} during SASL handshake.", ())


@pytest.mark.parametrize("garbage", [b"", b"GET / HTTP/1.1\r\n\r\n", bytes(3), b"\xff" * 40, b"\x00\x11\x00\x01"])
def test_what_is_no_request_ends_the_connection(garbage):
    assert phases().on_frame(memoryview(garbage), NOW_MS).answer == ()


def test_an_api_that_does_not_exist_ends_the_connection():
    assert phases().on_frame(headed(999, 0), NOW_MS).answer == ()


@pytest.mark.parametrize("version", [-1, 2, 99])
def test_a_handshake_of_an_unknown_version_ends_the_connection(version):
    step = phases().on_frame(headed(ApiKey.SASL_HANDSHAKE, version, b"\0\5PLAIN"), NOW_MS)
    assert (step.answer, step.is_delayed) == ((), False)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("mechanism", ["GSSAPI", "", "plain", "SCRAM-SHA-256", "x" * 300])
def test_a_mechanism_that_is_not_enabled_is_refused_with_those_that_are(mechanism, version):
    step = phases().on_frame(frame(SaslHandshakeRequest(mechanism=mechanism), version), NOW_MS)
    answer = answered(step.answer, ApiKey.SASL_HANDSHAKE, version)
    assert (answer.error_code, answer.mechanisms) == (ErrorCode.UNSUPPORTED_SASL_MECHANISM, ["PLAIN"])
    assert (step.reason, step.is_delayed) == (f"Unsupported SASL mechanism {mechanism}", True)


def test_members_may_begin_by_a_mechanism_that_is_not_enabled():
    step = phases().on_frame(frame(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1, "member"), NOW_MS)
    assert answered(step.parts, ApiKey.SASL_HANDSHAKE, 1).error_code == ErrorCode.NONE


# -- tokens


@pytest.mark.parametrize("version", range(3))
def test_tokens_go_to_and_fro_in_envelopes(version):
    login = shaken(b"first", LoggedIn(b"last", "User:a"))
    step = authenticate(login, version=version)
    assert bytes(answered(step.parts, ApiKey.SASL_AUTHENTICATE, version).auth_bytes) == b"first"
    step = authenticate(login, version=version)
    assert isinstance(step, Success)
    assert (step.logged_in.principal, step.mechanism, step.lifetime_ms) == ("User:a", "PLAIN", None)
    assert bytes(answered(step.answer, ApiKey.SASL_AUTHENTICATE, version).auth_bytes) == b"last"


def test_an_empty_last_token_is_answered_too():
    step = authenticate(shaken(LoggedIn(b"", "User:a")))
    assert answered(step.answer, ApiKey.SASL_AUTHENTICATE, 2).error_code == ErrorCode.NONE


def test_after_version_0_tokens_are_bare():
    login = shaken(b"first", LoggedIn(b"", "User:a"), version=0)
    step = login.on_frame(memoryview(b"\0\x24 no header of Kafka's"), NOW_MS)
    assert [bytes(part) for part in step.parts] == [b"\0\0\0\5first"]
    step = login.on_frame(memoryview(b""), NOW_MS)
    assert [bytes(part) for part in step.answer] == [b"\0\0\0\0"]


def test_after_version_0_a_failure_is_not_told():
    login = shaken(AuthenticationError("why", client_message="what"), version=0)
    assert login.on_frame(memoryview(b"token"), NOW_MS) == LoginFailure("why", ())


@pytest.mark.parametrize("version", [-1, 3, 99])
def test_an_envelope_of_an_unknown_version_ends_the_connection_at_once(version):
    step = shaken().on_frame(headed(ApiKey.SASL_AUTHENTICATE, version, b"\0\0\0\0"), NOW_MS)
    assert (step.answer, step.is_delayed) == ((), False)


def test_a_truncated_envelope_ends_the_connection():
    assert shaken().on_frame(headed(ApiKey.SASL_AUTHENTICATE, 0, b"\0\0\xff\xff"), NOW_MS).answer == ()


WITH_A_PLACE = [(ApiKey.SASL_HANDSHAKE, 1), (ApiKey.API_VERSIONS, 3), (ApiKey.HEARTBEAT, 4), (ApiKey.LIST_GROUPS, 0)]
WITHOUT = [(ApiKey.METADATA, 9), (ApiKey.PRODUCE, 9), (ApiKey.FETCH, 4), (ApiKey.HEARTBEAT, 99)]


@pytest.mark.parametrize(("api", "version"), WITH_A_PLACE)
def test_another_api_among_tokens_is_told_so_in_its_own_answer(api, version):
    step = shaken().on_frame(headed(api, version, b"any body"), NOW_MS)
    assert answered(step.answer, api, version).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert step.reason == f"Unexpected Kafka request of type {api.name} during SASL authentication."


@pytest.mark.parametrize(("api", "version"), WITHOUT)
def test_another_api_whose_answer_has_no_place_for_it_is_not_answered(api, version):
    assert shaken().on_frame(headed(api, version, b"any body"), NOW_MS).answer == ()


@pytest.mark.parametrize(
    ("message", "heard"),
    [
        (
            None,
            "Authentication failed during authentication due to invalid credentials with SASL mechanism PLAIN",
        ),
        ("Authentication failed: Invalid username or password",) * 2,
    ],
)
def test_a_failure_is_told_in_kafkas_words(message, heard):
    step = authenticate(shaken(AuthenticationError("the reason", message)))
    answer = answered(step.answer, ApiKey.SASL_AUTHENTICATE, 2)
    assert (answer.error_code, answer.error_message) == (ErrorCode.SASL_AUTHENTICATION_FAILED, heard)
    assert (step.reason, step.is_delayed) == ("the reason", True)


def test_nothing_is_taken_after_a_failure():
    login = shaken(AuthenticationError("no"))
    authenticate(login)
    assert authenticate(login).answer == ()
    assert login.on_frame(frame(MetadataRequest(topics=None), 9), NOW_MS).answer == ()


def test_nobody_but_a_member_is_called_as_members_are():
    step = authenticate(shaken(LoggedIn(b"", "User:__cluster")))
    assert answered(step.answer, ApiKey.SASL_AUTHENTICATE, 2).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert isinstance(authenticate(shaken(LoggedIn(b"", "User:__cluster", is_member=True))), Success)


async def test_an_answer_that_has_to_wait_is_made_when_it_comes():
    async def late():
        return LoggedIn(b"", "User:a", NOW_MS + 5000)

    step = authenticate(shaken(late()))
    assert isinstance(step, Wait)
    done = step.then(await step.reply, NOW_MS + 1000)
    assert (done.logged_in.principal, done.lifetime_ms) == ("User:a", 4000)
    refused = step.fail(AuthenticationError("no keys"))
    assert answered(refused.answer, ApiKey.SASL_AUTHENTICATE, 2).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


# -- lifetimes, and logins that are done again


@pytest.mark.parametrize(
    ("expires_ms", "reauth_ms", "lifetime_told_ms", "lifetime_ms"),
    [
        (None, 0, 0, None),
        (None, 3000, 3000, 3000),
        (NOW_MS + 2000, 0, 2000, 2000),
        (NOW_MS + 2000, 3000, 2000, 2000),
        (NOW_MS + 9000, 3000, 3000, 3000),
        (NOW_MS - 1, 0, 0, 0),
        (NOW_MS - 1, 3000, 0, 0),
    ],
)
@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_session_ends_with_what_ends_first(expires_ms, reauth_ms, lifetime_told_ms, lifetime_ms, version):
    """KAFKA-13848: also what is over already; and also where the client's version has no place to be told it."""
    step = authenticate(shaken(LoggedIn(b"", "User:a", expires_ms), reauth_ms=reauth_ms), version=version)
    answer = answered(step.answer, ApiKey.SASL_AUTHENTICATE, version)
    assert answer.session_lifetime_ms == (lifetime_told_ms if version else 0)
    assert step.lifetime_ms == lifetime_ms


def test_members_of_the_cluster_stay():
    assert authenticate(shaken(LoggedIn(b"", "User:__cluster", is_member=True), reauth_ms=3000)).lifetime_ms is None


def again(*replies, mechanism: str = "PLAIN") -> Phases:
    login = phases(*replies, earlier=Earlier("PLAIN", "User:a"))
    login.on_handshake(mechanism, 1, "member")
    return login


def test_a_login_is_done_again_by_the_same_for_the_same():
    assert isinstance(authenticate(again(LoggedIn(b"", "User:a"))), Success)


def test_another_principal_is_refused():
    step = authenticate(again(LoggedIn(b"", "User:b")))
    answer = answered(step.answer, ApiKey.SASL_AUTHENTICATE, 2)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert answer.error_message == "Cannot change principals during re-authentication from User.a: User.b"


def test_another_mechanism_is_refused_at_the_next_frame():
    login = again(LoggedIn(b"", "User:a"), mechanism="SCRAM-SHA-256")
    step = authenticate(login)
    assert step.answer == ()
    assert (
        "'SCRAM-SHA-256' requested by client is not supported for re-authentication of mechanism 'PLAIN'" in step.reason
    )


def test_who_fails_again_hears_that_it_was_again():
    answer = answered(authenticate(again(AuthenticationError("no"))).answer, ApiKey.SASL_AUTHENTICATE, 2)
    assert "failed during re-authentication" in answer.error_message


def test_no_other_request_stands_between():
    assert isinstance(again().on_frame(frame(MetadataRequest(topics=None), 9), NOW_MS), LoginFailure)
    assert isinstance(again(b"x").on_frame(frame(INTRODUCTION, 3), NOW_MS), LoginFailure)


def test_answers_are_made_of_what_they_carry():
    assert isinstance(authenticate(shaken(b"x")), SaslChallenge)
