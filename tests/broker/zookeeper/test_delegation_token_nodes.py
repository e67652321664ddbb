"""Delegation tokens are stored as Kafka stores them, and nothing else is taken for one."""

import json

import pytest

from broker.security.delegation_tokens import DelegationToken, Principal
from broker.zookeeper.acls import is_sensitive
from broker.zookeeper.delegation_token_nodes import decode_change, decode_token, encode_token, is_token_id, token_path
from broker.zookeeper.errors import MalformedZnode

ALICE, BOB = Principal("User", "alice"), Principal("User", "CN=b ö~*,O=c")
TOKEN = DelegationToken("tbPz2EGdQIyVbL8mbe2dTg", ALICE, BOB, (BOB,), 1, 3, 2)
#: What Kafka 3.8 writes for it.
STORED = {
    "version": 3,
    "owner": "User%3Aalice",
    "tokenRequester": "User%3ACN%3Db%20%C3%B6%7E%2A%2CO%3Dc",
    "renewers": ["User%3ACN%3Db%20%C3%B6%7E%2A%2CO%3Dc"],
    "issueTimestamp": 1,
    "maxTimestamp": 3,
    "expiryTimestamp": 2,
    "tokenId": "tbPz2EGdQIyVbL8mbe2dTg",
}


def test_a_token_is_written_and_read_as_kafka_does():
    assert json.loads(encode_token(TOKEN)) == STORED
    assert decode_token(TOKEN.token_id, json.dumps(STORED).encode()) == TOKEN


@pytest.mark.parametrize("version", [1, 2])
def test_the_owner_of_an_older_token_asked_for_it(version):
    older = {name: value for name, value in STORED.items() if name != "tokenRequester"} | {"version": version}
    assert decode_token(TOKEN.token_id, json.dumps(older).encode()) == TOKEN._replace(requester=ALICE)


def test_only_the_clusters_own_user_reads_tokens():
    assert is_sensitive(token_path(TOKEN.token_id))


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 4},
        {"version": 0},
        {"version": None},
        {"owner": "alice"},
        {"owner": 5},
        {"renewers": None},
        {"renewers": ["alice"]},
        {"expiryTimestamp": "soon"},
        {"expiryTimestamp": -1},
        {"expiryTimestamp": 1e999},
        {"maxTimestamp": 2**63},
        {"tokenId": "another"},
    ],
)
def test_what_is_no_token_is_refused(changes):
    with pytest.raises(MalformedZnode):
        decode_token(TOKEN.token_id, json.dumps(STORED | changes).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b"[" * 100_000])
def test_other_bytes_are_refused(data):
    with pytest.raises(MalformedZnode):
        decode_token(TOKEN.token_id, data)


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", "x" * 65, "a\0"])
def test_a_notice_that_names_no_token_is_refused(name):
    assert not is_token_id(name)
    with pytest.raises(MalformedZnode):
        decode_change("/delegation_token/token_changes/token_change_0000000001", name.encode())


def test_a_notice_holds_the_id_alone():
    assert decode_change("/any", b"tbPz2EGdQIyVbL8mbe2dTg") == "tbPz2EGdQIyVbL8mbe2dTg"
