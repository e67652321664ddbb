"""Session keys of KIP-507: as Kafka's workers write and sign, what is refused, and when a key is changed."""

import base64
import hmac

import pytest

from broker.connect.group.session_key import (
    ALGORITHM_HEADER,
    SIGNATURE_HEADER,
    SessionKey,
    is_due,
    key_bytes,
    key_record,
    refusal,
    signed_headers,
)
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.records import load

KEY = SessionKey(bytes(range(32)), "HmacSHA256", 1_700_000_000_000)
BODY = b'[{"file":"a"}]'
SETTINGS = {"ttl_ms": 3_600_000, "algorithm": "HmacSHA256", "bits": None}


def test_the_record_is_kafkas_and_a_worker_that_reads_it_knows_the_key():
    key, value = key_record(KEY)
    assert key == b"session-key"
    assert load(value) == {
        "key": base64.b64encode(KEY.secret).decode(), "algorithm": "HmacSHA256", "creation-timestamp": KEY.created_ms,
    }  # fmt: skip
    known = Configurations()
    known.apply(key, value, 7)
    assert (known.session_key, known.offset) == (KEY, 8)
    for wrong in (None, b"x", b"{}", b'{"key":"?","algorithm":"HmacSHA256","creation-timestamp":1}', b'{"key":1}'):
        known.apply(key, wrong, 8)
    assert known.session_key == KEY
    assert KEY.secret.hex() not in repr(known)
    assert "\\x01" not in repr(known)


def test_what_is_signed_is_the_body_also_an_empty_one():
    headers = signed_headers(KEY, "HmacSHA256", b"")
    expected = hmac.new(KEY.secret, b"", "sha256").digest()
    assert base64.b64decode(headers["X-Connect-Authorization"]) == expected
    assert headers["X-Connect-Request-Signature-Algorithm"] == "HmacSHA256"
    assert refusal(headers, b"", KEY, ("HmacSHA256",)) is None


@pytest.mark.parametrize(
    ("change", "key", "status"),
    [
        ({}, KEY, None),
        ({SIGNATURE_HEADER: None}, KEY, 400),
        ({ALGORITHM_HEADER: None}, KEY, 400),
        ({ALGORITHM_HEADER: "HmacSHA512"}, KEY, 400),
        ({}, None, 503),
        ({SIGNATURE_HEADER: base64.b64encode(b"wrong").decode()}, KEY, 403),
        ({SIGNATURE_HEADER: "no base64"}, KEY, 403),
        ({SIGNATURE_HEADER: "ä"}, KEY, 403),
        ({}, SessionKey(bytes(32), "HmacSHA256", 1), 403),
    ],
)
def test_refusals_are_kafkas(change, key, status):
    headers = signed_headers(KEY, "HmacSHA256", BODY) | change
    result = refusal({name: value for name, value in headers.items() if value is not None}, BODY, key, ("HmacSHA256",))
    assert (result and result[0]) == status


def test_another_body_needs_another_signature():
    assert refusal(signed_headers(KEY, "HmacSHA256", BODY), BODY + b" ", KEY, ("HmacSHA256",))[0] == 403


def test_a_key_is_changed_when_there_is_none_or_it_is_old_or_made_otherwise():
    made = KEY.created_ms
    assert is_due(None, made, **SETTINGS)
    assert not is_due(KEY, made + 3_599_999, **SETTINGS)
    assert is_due(KEY, made + 3_600_000, **SETTINGS)
    assert not is_due(KEY, made + 10**12, **SETTINGS | {"ttl_ms": 0})
    assert is_due(KEY, made, **SETTINGS | {"algorithm": "HmacSHA512"})
    assert is_due(KEY, made, **SETTINGS | {"bits": 512})
    assert [key_bytes("HmacSHA512", None), key_bytes("HmacSHA256", 100)] == [64, 13]
