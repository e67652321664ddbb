"""No secret leaves a znode, whatever shape it has there."""

import json

import pytest

from console.cluster.zookeeper.masking import MASK, mask_secrets

SCRAM = "salt=c2FsdA==,stored_key=aGlkZGVu,server_key=aGlkZGVuMg==,iterations=4096"


def config(**values: str) -> bytes:
    return json.dumps({"version": 1, "config": values}).encode()


def shown(path: str, value: bytes) -> dict:
    return json.loads(mask_secrets(path, value).value)["config"]


def test_scram_credentials_are_taken_out_and_quotas_stay():
    value = config(**{"SCRAM-SHA-256": SCRAM, "producer_byte_rate": "1000"})
    masked = mask_secrets("/config/users/alice", value)

    assert shown("/config/users/alice", value) == {"SCRAM-SHA-256": MASK, "producer_byte_rate": "1000"}
    assert masked.names == ("SCRAM-SHA-256",)
    assert b"aGlkZGVu" not in masked.value


def test_a_setting_of_users_that_nobody_has_thought_of_is_hidden():
    assert shown("/config/users/alice", config(something_new="x")) == {"something_new": MASK}


def test_quotas_of_a_user_come_back_byte_for_byte():
    value = config(consumer_byte_rate="5")
    assert mask_secrets("/config/users/alice/clients/app", value).value == value


@pytest.mark.parametrize(
    "name",
    [
        "listener.name.external.ssl.keystore.password",
        "ssl.key.password",
        "listener.name.sasl.plain.sasl.jaas.config",
        "password.encoder.secret",
        "ssl.keystore.key",
    ],
)
def test_passwords_among_a_brokers_settings_are_taken_out(name):
    seen = shown("/config/brokers/1", config(**{name: "hunter2", "log.retention.ms": "5"}))
    assert seen == {name: MASK, "log.retention.ms": "5"}


def test_a_delegation_token_is_not_shown_at_all():
    masked = mask_secrets("/delegation_token/tokens/abc", b'{"hmac": "aGlkZGVu"}')
    assert masked.value is None


def test_a_chroot_seen_from_above_hides_the_same():
    assert shown("/kafka/config/users/alice", config(something_new="x")) == {"something_new": MASK}
    assert mask_secrets("/kafka/delegation_token/tokens/abc", b"x").value is None


def test_a_credential_is_found_wherever_it_lies():
    value = json.dumps([{"deep": {"why": SCRAM}}]).encode()
    masked = mask_secrets("/somewhere/else", value)
    assert b"aGlkZGVu" not in masked.value
    assert mask_secrets("/somewhere/else", SCRAM.encode()).value is None


@pytest.mark.parametrize("value", [b"not json", b"\xff\x00", b"[" * 100_000])
def test_what_cannot_be_read_below_users_is_hidden_whole(value):
    assert mask_secrets("/config/users/alice", value).value is None


@pytest.mark.parametrize("value", [b"", b"3", b"plain words", b"\xff\x00\x01", b'{"brokerid":1}'])
def test_what_holds_no_secret_comes_back_byte_for_byte(value):
    assert mask_secrets("/controller", value).value == value
    assert mask_secrets("/controller", value).names == ()
