"""Listeners of a running broker come and go; one that is there stays as it is."""

import pytest

from broker.common.errors import ErrorCode
from broker.config.broker import read_broker_config
from broker.config.definition import ConfigError
from broker.config.dynamic import read_broker_change
from broker.config.listener_changes import check_listener_change

NOW = read_broker_config(
    "broker.id=1\nzookeeper.connect=z:1\nlisteners=PLAINTEXT://a:1,OLD://a:2\n"
    "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,OLD:SSL,NEW:SASL_SSL\n"
)


def check(**texts: str) -> None:
    own = {key: read_broker_change(key, text, is_for_all=False) for key, text in texts.items()}
    check_listener_change(NOW, NOW.with_dynamic(own, {}))


@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"listeners": "PLAINTEXT://a:1,OLD://a:2,NEW://a:3"},
        {"listeners": "PLAINTEXT://a:1"},
        {"advertised.listeners": "PLAINTEXT://b:9092,OLD://b:9093"},
        {"listeners": "PLAINTEXT://a:1,NEW://a:3", "listener.name.new.sasl.enabled.mechanisms": "PLAIN"},
        {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OLD:SSL,NEW:SSL"},
        {"listener.name.old.ssl.keystore.location": "/new/certificate"},
        {"listener.name.old.max.connections": "5"},
    ],
)
def test_what_may_change(texts):
    check(**texts)
    assert NOW.listeners[1].port == 2


@pytest.mark.parametrize(
    ("texts", "code", "words"),
    [
        ({"listeners": "PLAINTEXT://a:1,OLD://a:3"}, ErrorCode.INVALID_REQUEST, "OLD listens on OLD://a:2 already"),
        (
            {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OLD:SASL_SSL"},
            ErrorCode.INVALID_REQUEST,
            "clients of OLD speak SSL; add a listener of another name, or change the file and restart the broker",
        ),
        (
            {"listener.name.old.ssl.client.auth": "required"},
            ErrorCode.INVALID_REQUEST,
            "listener.name.old.ssl.client.auth cannot change for a listener that is there; add a listener of another",
        ),
        ({"listeners": "OLD://a:2"}, ErrorCode.INVALID_CONFIG, "listener PLAINTEXT, which is not advertised"),
        ({"listeners": "PLAINTEXT://a:1,OTHER://a:3"}, ErrorCode.INVALID_CONFIG, "no security protocol is defined"),
        ({"advertised.listeners": "OLD://b:9093"}, ErrorCode.INVALID_CONFIG, "PLAINTEXT, which is not advertised"),
        ({"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, ErrorCode.INVALID_CONFIG, "a host that clients can reach"),
    ],
)
def test_what_may_not_is_refused_with_a_sentence(texts, code, words):
    with pytest.raises(ConfigError) as refused:
        check(**texts)
    assert refused.value.code == code
    assert words in refused.value.message
