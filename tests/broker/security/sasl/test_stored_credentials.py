"""Credentials as Kafka writes them, and what may be asked of them."""

from hashlib import pbkdf2_hmac

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import GROUP_NAME_LENGTH_MAX
from broker.common.security_limits import CREDENTIAL_SALT_BYTES_MAX
from broker.protocol.messages.alter_user_scram_credentials import ScramCredentialDeletion, ScramCredentialUpsertion
from broker.security.sasl.stored_credentials import (
    UserChange,
    changes_of,
    credentials_in,
    decode_credential,
    encode_credential,
)
from broker.security.scram import Credential, credential_of, derive_keys

TEXT = "salt=c2FsdA==,stored_key=c3RvcmVk,server_key=c2VydmVy,iterations=8192"


def test_a_credential_is_four_parts():
    assert decode_credential(TEXT) == Credential(b"salt", 8192, b"stored", b"server")
    assert encode_credential(decode_credential(TEXT)) == TEXT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        TEXT + ",more=1",
        TEXT + ",salt=AAAA",
        TEXT.replace(",iterations=8192", ""),
        TEXT.replace("8192", "many"),
        TEXT.replace("8192", "-1"),
        TEXT.replace("c2FsdA==", "c2FsdA"),
        TEXT.replace("c2FsdA==", "§"),
    ],
)
def test_anything_else_is_left_out(text):
    first, wrong = credentials_in({"SCRAM-SHA-256": text, "SCRAM-SHA-512": TEXT, "producer_byte_rate": "1"})
    assert list(first) == ["SCRAM-SHA-512"]
    assert len(wrong) == 1


def setting(name="u", mechanism=1, iterations=4096, salt=b"salt", salted=bytes(32)) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=salt, salted_password=salted
    )


def deleting(name="u", mechanism=1) -> ScramCredentialDeletion:
    return ScramCredentialDeletion(name=name, mechanism=mechanism)


@pytest.mark.parametrize(
    ("part", "code", "message"),
    [
        (setting(name=""), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        (deleting(name=""), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        (setting(mechanism=0), ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (setting(mechanism=3), ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (deleting(mechanism=-1), ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (setting(iterations=4095), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
        (setting(iterations=-1), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
        (setting(iterations=16385), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"),
        (setting(name="__cluster"), ErrorCode.UNACCEPTABLE_CREDENTIAL, "the cluster's own"),
        (setting(name=".."), ErrorCode.UNACCEPTABLE_CREDENTIAL, "No user can be called"),
        (setting(name="x" * (GROUP_NAME_LENGTH_MAX + 1)), ErrorCode.UNACCEPTABLE_CREDENTIAL, "letters"),
        (setting(salt=b""), ErrorCode.UNACCEPTABLE_CREDENTIAL, "A salt has"),
        (setting(salt=bytes(CREDENTIAL_SALT_BYTES_MAX + 1)), ErrorCode.UNACCEPTABLE_CREDENTIAL, "A salt has"),
        (setting(salted=b""), ErrorCode.UNACCEPTABLE_CREDENTIAL, "A salted password has 1 to"),
        (setting(salted=bytes(CREDENTIAL_SALT_BYTES_MAX + 1)), ErrorCode.UNACCEPTABLE_CREDENTIAL, "A salted password"),
    ],
)
def test_one_bad_part_fails_all_of_its_user_and_nobody_else(part, code, message):
    good = setting(name=part.name, mechanism=2, salted=bytes(64))
    changes = changes_of(
        [part] if isinstance(part, ScramCredentialDeletion) else [],
        [good, setting(name="other"), *([part] if isinstance(part, ScramCredentialUpsertion) else [])],
    )
    assert isinstance(changes["other"], UserChange)
    assert changes[part.name].code == code
    assert message in changes[part.name].message


def test_a_credential_is_changed_once():
    assert changes_of([], [setting(), setting()])["u"].code == ErrorCode.DUPLICATE_RESOURCE


@pytest.mark.parametrize("second", [setting(), setting(mechanism=2, iterations=1)])
@pytest.mark.parametrize("is_there", [True, False])
def test_of_several_faults_of_a_user_the_first_is_named(second, is_there):
    """As by Kafka: whether what is deleted is there comes before what is wrong with a part behind it."""
    with pytest.raises(ApiError) as refused:
        changes_of([deleting()], [second])["u"].apply({"SCRAM-SHA-256": TEXT} if is_there else {})
    of_second = ErrorCode.DUPLICATE_RESOURCE if second.mechanism == 1 else ErrorCode.UNACCEPTABLE_CREDENTIAL
    assert refused.value.code == (of_second if is_there else ErrorCode.RESOURCE_NOT_FOUND)


def test_several_mechanisms_of_a_user_are_one_change_that_leaves_quotas_alone():
    changes = changes_of([deleting()], [setting(mechanism=2, salted=bytes(64))])
    before = {"SCRAM-SHA-256": TEXT, "producer_byte_rate": "1024"}
    after = changes["u"].apply(before)
    assert after.keys() == {"SCRAM-SHA-512", "producer_byte_rate"}
    assert before["SCRAM-SHA-256"] == TEXT


def test_what_is_not_there_cannot_be_deleted():
    with pytest.raises(ApiError) as refused:
        changes_of([deleting()], [])["u"].apply({"SCRAM-SHA-512": TEXT})
    assert refused.value.code == ErrorCode.RESOURCE_NOT_FOUND


def test_what_is_kept_is_what_the_password_comes_to():
    keys = derive_keys(b"secret", b"salt", 4096)
    salted = pbkdf2_hmac("sha256", b"secret", b"salt", 4096)
    stored = changes_of([], [setting(salted=salted)])["u"].set["SCRAM-SHA-256"]
    assert decode_credential(stored) == credential_of(keys, b"salt", 4096)
    assert "secret" not in stored


def test_a_salted_password_may_have_another_length_than_its_hash_as_to_kafka():
    changes = changes_of([], [setting(mechanism=2, salted=bytes(32))])
    assert set(changes["u"].set) == {"SCRAM-SHA-512"}
