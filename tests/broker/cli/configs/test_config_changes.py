from hashlib import pbkdf2_hmac

import pytest

from broker.cli.configs.config_changes import (
    ConfigEdits,
    checked_keys,
    quota_values,
    read_added,
    read_deleted,
    require_quotas,
    scram_deletions,
    scram_upsertion,
)
from broker.cli.frame.declaration import CommandError


def test_brackets_keep_commas_and_equal_signs_together():
    assert read_added("k1=v1,k2=[a,b],k3= v3 ,k4=") == {"k1": "v1", "k2": "a,b", "k3": "v3", "k4": ""}
    assert read_added("SCRAM-SHA-256=[iterations=8192,password=x],producer_byte_rate=1") == {
        "SCRAM-SHA-256": "iterations=8192,password=x",
        "producer_byte_rate": "1",
    }


@pytest.mark.parametrize("text", ["", "foo", "k=v=w", "k1=v1,,k2=v2", "k=a,b"])
def test_what_is_no_pair_is_refused(text):
    with pytest.raises(CommandError, match='all configs to be added must be in the format "key=val"'):
        read_added(text)


def test_keys_to_delete_are_separated_by_commas():
    assert read_deleted("a, b,,c") == ["a", "b", "c"]


def test_quotas_are_numbers():
    assert quota_values({"producer_byte_rate": "1024"}) == {"producer_byte_rate": 1024.0}
    with pytest.raises(CommandError, match="Cannot parse quota configuration value for a: fast"):
        quota_values({"a": "fast"})


@pytest.mark.parametrize(
    ("changes", "entity_type", "takes_scram", "sentence"),
    [
        (
            ConfigEdits({"retention.ms": "x"}, ()),
            "users",
            True,
            "Only quota and SCRAM credential configs can be added for 'users'",
        ),
        (
            ConfigEdits({}, ("bad",)),
            "users",
            True,
            "Only quota and SCRAM credential configs can be deleted for 'users'",
        ),
        (
            ConfigEdits({"SCRAM-SHA-256": "password=x"}, ()),
            "clients",
            False,
            "Only quota configs can be added for 'clients'",
        ),
        (
            ConfigEdits({"producer_byte_rate": "1"}, ()),
            "ips",
            False,
            "Only connection quota configs can be added for 'ips'",
        ),
    ],
)
def test_what_is_no_quota_is_named_before_its_value_is_read(changes, entity_type, takes_scram, sentence):
    key = next(iter([*changes.added, *changes.deleted]))
    with pytest.raises(CommandError) as refused:
        require_quotas(changes, entity_type, takes_scram=takes_scram)
    assert str(refused.value) == f"{sentence} using --bootstrap-server. Unexpected config names: {key}"


def test_quotas_and_credentials_are_taken():
    require_quotas(ConfigEdits({"request_percentage": "1"}, ("SCRAM-SHA-256",)), "users", takes_scram=True)
    require_quotas(ConfigEdits({"connection_creation_rate": "1"}, ()), "ips", takes_scram=False)


def test_scram_credentials_are_told_from_quotas():
    changes = ConfigEdits({"SCRAM-SHA-512": "password=x", "a": "1"}, ("SCRAM-SHA-256", "b"))
    assert (changes.of_scram(), changes.of_others()) == (
        ConfigEdits({"SCRAM-SHA-512": "password=x"}, ("SCRAM-SHA-256",)),
        ConfigEdits({"a": "1"}, ("b",)),
    )
    assert not ConfigEdits({}, ())
    assert [(deletion.name, deletion.mechanism) for deletion in scram_deletions("bob", changes.of_scram())] == [
        ("bob", 1)
    ]


def test_a_password_leaves_hashed():
    made = scram_upsertion("bob", "SCRAM-SHA-512", "iterations=8192,password=p=w", b"salt")
    assert (made.name, made.mechanism, made.iterations) == ("bob", 2, 8192)
    assert made.salted_password == pbkdf2_hmac("sha512", b"p=w", b"salt", 8192)
    assert scram_upsertion("bob", "SCRAM-SHA-256", "password=x", b"salt").iterations == 4096


def test_a_password_may_have_commas():
    made = scram_upsertion("bob", "SCRAM-SHA-256", "password=x,salt=y", b"salt")
    assert made.salted_password == pbkdf2_hmac("sha256", b"x,salt=y", b"salt", 4096)


@pytest.mark.parametrize("text", ["iterations=8192", "password=", "salt=y,password=x", "iterations=1,password=x"])
def test_credentials_that_nobody_could_use_are_refused(text):
    with pytest.raises(CommandError, match="SCRAM-SHA-256"):
        scram_upsertion("bob", "SCRAM-SHA-256", text, b"salt")


@pytest.mark.parametrize("key", ["a b", "key:with:colon", "é", "retention,ms"])
def test_a_key_of_other_letters_is_refused_with_kafkas_words(key):
    """KAFKA-14927: such a key was stored under the topic, and nothing read it."""
    with pytest.raises(CommandError, match=f"Invalid character found for config key: {key}"):
        checked_keys({key: "1"})


def test_a_key_may_be_a_loggers_name():
    """KAFKA-19980: an inner class has a dollar in its name."""
    name = "org.apache.kafka.server.quota.ClientQuotaManager$ThrottledChannelReaper"
    assert read_added(f"{name}=DEBUG") == {name: "DEBUG"}
