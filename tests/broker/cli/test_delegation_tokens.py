"""`kafka-delegation-tokens`: what it prints to the byte, and what it does not take."""

import pytest

from broker.cli.kafka_delegation_tokens import table
from tests.typed import typed

ALICE, BOB = {"type": "User", "name": "alice"}, {"type": "User", "name": "bob"}


@pytest.fixture
def utc(monkeypatch):
    """Dates are printed in the time zone of who reads them."""
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_table_is_kafkas(utc):
    token = {
        "tokenId": "tbPz2EGdQIyVbL8mbe2dTg",
        "hmac": "c2VjcmV0",
        "owner": ALICE,
        "tokenRequester": BOB,
        "renewers": [ALICE, BOB],
        "issueTimestamp": 1_700_000_000_000,
        "expiryTimestamp": 1_700_086_400_000,
        "maxTimestamp": 1_700_604_800_000,
    }
    assert table([token]) == (
        "\nTOKENID         HMAC                           OWNER           REQUESTER       RENEWERS                  "
        "ISSUEDATE       EXPIRYDATE      MAXDATE        \n"
        "\ntbPz2EGdQIyVbL8mbe2dTg c2VjcmV0                       User:alice      User:bob        "
        "[User:alice, User:bob]    2023-11-14T22:13 2023-11-15T22:13 2023-11-21T22:13\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--create"], 'Missing required argument "[max-life-time-period]"'),
        (["--renew", "--hmac", "AA=="], 'Missing required argument "[renew-time-period]"'),
        (["--expire"], 'Missing required argument "[hmac, expiry-time-period]"'),
        (["--create", "--describe"], "Command must include exactly one action"),
        (["--describe", "--hmac", "AA=="], 'Option "[describe]" can\'t be used with option "[hmac]"'),
        (
            ["--renew", "--hmac", "AA==", "--renew-time-period", "1", "--owner-principal", "User:a"],
            'Option "[renew]" can\'t be used with option "[owner-principal]"',
        ),
        (["--create", "--max-life-time-period", "soon"], "Cannot parse argument 'soon'"),
        (["--create", "--max-life-time-period", "1", "--owner-principal", "alice"], "principalType:principalName"),
        (["--expire", "--expiry-time-period", "1", "--hmac", "no text"], "--hmac: it is the text of base64"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(words, sentence):
    outcome = typed("kafka-delegation-tokens", "--bootstrap-server", "127.0.0.1:1", *words)
    assert outcome.status == 1
    assert sentence in outcome.err
    assert outcome.out == ""
