"""What a listener's settings make of its keys, and what does not start."""

import pytest

from broker.common.errors import StartupError
from broker.config.broker import read_broker_config
from broker.server.bearer_listeners import BearerListeners, jwks_settings
from tests.manual_clock import ManualClock

URL = "sasl.oauthbearer.jwks.endpoint.url"


def listener(*lines, name="IN"):
    listeners = "listeners=IN://127.0.0.1:1,OUT://127.0.0.1:2\ninter.broker.listener.name=IN\n"
    protocols = "listener.security.protocol.map=IN:SASL_PLAINTEXT,OUT:SASL_PLAINTEXT\n"
    properties = f"broker.id=1\nzookeeper.connect=z:1\n{listeners}{protocols}"
    return read_broker_config(properties + "\n".join(lines)).of_listener(name)


def test_settings_of_a_listener_and_its_mechanism_count_before_those_of_all():
    said = (
        f"{URL}=https://all/keys",
        f"listener.name.in.oauthbearer.{URL}=https://in/keys",
        "listener.name.in.oauthbearer.sasl.oauthbearer.expected.audience=a, b",
        "sasl.oauthbearer.expected.issuer=https://issuer",
        "sasl.oauthbearer.clock.skew.seconds=5",
        "sasl.oauthbearer.sub.claim.name=email",
    )
    settings = jwks_settings(listener(*said))
    assert (settings.place.host, settings.refresh_ms) == ("in", 3_600_000)
    assert settings.rules == ("https://issuer", ("a", "b"), 5_000, "email", "scope")
    other = jwks_settings(listener(*said, name="OUT"))
    assert (other.place.host, other.rules.audiences) == ("all", ())


def test_without_keys_no_token_is_taken():
    with pytest.raises(StartupError, match="nobody has signed are not taken"):
        jwks_settings(listener())


def test_a_place_that_cannot_be_is_named_with_its_listener():
    with pytest.raises(StartupError, match="listener IN: sasl"):
        jwks_settings(listener(f"{URL}=ftp://in/keys"))


def test_listeners_with_the_same_settings_share_their_keys():
    all_ = BearerListeners(ManualClock())
    said = (f"{URL}=https://all/keys", f"listener.name.out.oauthbearer.{URL}=https://out/keys")
    first = all_.tokens_of(listener(*said))
    assert all_.tokens_of(listener(*said)) is first
    assert all_.tokens_of(listener(*said, name="OUT")) is not first
