"""What a listener's settings make of its keys, and what does not start."""

import pytest
from structlog.testing import capture_logs

from broker.common.errors import StartupError
from broker.config.broker import read_broker_config
from broker.security.unsecured_tokens import VALIDATOR
from broker.server.bearer_listeners import BearerListeners, jwks_settings
from tests.bearer import unsigned
from tests.manual_clock import ManualClock

URL = "sasl.oauthbearer.jwks.endpoint.url"


def listener(*lines, name="IN"):
    listeners = "listeners=IN://127.0.0.1:1,OUT://127.0.0.1:2\ninter.broker.listener.name=IN\n"
    protocols = "listener.security.protocol.map=IN:SASL_PLAINTEXT,OUT:SASL_PLAINTEXT\n"
    properties = f"broker.id=1\nzookeeper.connect=z:1\n{listeners}{protocols}"
    return read_broker_config(properties + "\n".join(lines)).of_listener(name)


def test_settings_of_a_listener_and_its_mechanism_count_before_those_of_all():
    lines = (
        f"{URL}=https://all/keys",
        f"listener.name.in.oauthbearer.{URL}=https://in/keys",
        "listener.name.in.oauthbearer.sasl.oauthbearer.expected.audience=a, b",
        "sasl.oauthbearer.expected.issuer=https://issuer",
        "sasl.oauthbearer.clock.skew.seconds=5",
        "sasl.oauthbearer.sub.claim.name=email",
    )
    settings = jwks_settings(listener(*lines))
    assert (settings.place.host, settings.refresh_ms) == ("in", 3_600_000)
    assert settings.rules == ("https://issuer", ("a", "b"), 5_000, "email", "scope", True, True)
    other = jwks_settings(listener(*lines, name="OUT"))
    assert (other.place.host, other.rules.audiences) == ("all", ())


def test_without_keys_no_token_is_taken():
    with pytest.raises(StartupError, match="unsigned tokens are not accepted"):
        jwks_settings(listener())


def test_a_place_that_cannot_be_is_named_with_its_listener():
    with pytest.raises(StartupError, match="listener IN: sasl"):
        jwks_settings(listener(f"{URL}=ftp://in/keys"))


def test_listeners_with_the_same_settings_share_their_keys():
    all_ = BearerListeners(ManualClock())
    lines = (f"{URL}=https://all/keys", f"listener.name.out.oauthbearer.{URL}=https://out/keys")
    first = all_.tokens_of(listener(*lines))
    assert all_.tokens_of(listener(*lines)) is first
    assert all_.tokens_of(listener(*lines, name="OUT")) is not first


UNSECURED = f"listener.name.in.oauthbearer.sasl.server.callback.handler.class={VALIDATOR}"


async def test_a_listener_that_names_kafkas_unsecured_validator_takes_tokens_that_nobody_signed():
    clock = ManualClock()
    jaas = (
        "listener.name.in.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer."
        'OAuthBearerLoginModule required unsecuredValidatorPrincipalClaimName="email";'
    )
    with capture_logs() as lines:
        server = BearerListeners(clock).maker_for(listener(UNSECURED, jaas))()
    assert [line["event"] for line in lines] == ["unsigned tokens are accepted: any client can be any user"]
    token = unsigned(email="alice", exp=clock.now_ms() // 1000 + 60)
    logged_in = await server.respond(f"n,,\x01auth=Bearer {token}\x01\x01".encode())
    assert logged_in.principal == "User:alice"


def test_the_unsecured_validator_counts_for_the_listener_that_names_it():
    with pytest.raises(StartupError, match="unsigned tokens are not accepted"):
        BearerListeners(ManualClock()).maker_for(listener(UNSECURED, name="OUT"))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"{URL}=https://in/keys", "leave one of them out"),
        (
            "listener.name.in.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer."
            'OAuthBearerLoginModule required unsecuredValidatorAllowableClockSkewMs="soon";',
            "unsecuredValidatorAllowableClockSkewMs=soon must be a number from 0",
        ),
    ],
)
def test_settings_that_contradict_the_unsecured_validator_do_not_start(line, why):
    with pytest.raises(StartupError, match=why):
        BearerListeners(ManualClock()).maker_for(listener(UNSECURED, line))
