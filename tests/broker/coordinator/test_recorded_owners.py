"""Which clients records are counted for, as their headers name them."""

from uuid import UUID

import pytest

from broker.common.shared_budget import UNATTRIBUTED, Owner
from broker.common.types import NO_TOPIC_ID
from broker.coordinator.recorded_owners import (
    Committer,
    decode_committer,
    decode_owner,
    decode_owners,
    decode_topic_id,
    encode_offset_headers,
    encode_owner,
    encode_owners,
)

A, B = Owner("User:a", "/10.0.0.1"), Owner('User:"ü', "/2001:db8::/64")


@pytest.mark.parametrize("owners", [[], [A], [A, A, B, A], [B] * 1_000, [A] * 20_000])
def test_owners_come_back_in_order(owners):
    assert decode_owners(encode_owners(owners)) == owners


def test_a_thousand_members_of_one_client_take_no_more_than_one():
    assert len(encode_owners([A] * 1_000)[0][1]) < 40


@pytest.mark.parametrize("committer", [Committer(A, True), Committer(B, False)])
def test_the_client_of_an_offset_comes_back(committer):
    assert decode_committer(encode_offset_headers(committer, NO_TOPIC_ID)) == committer


def test_a_record_without_a_client_names_none():
    assert encode_offset_headers(Committer(UNATTRIBUTED, True), NO_TOPIC_ID) == ()
    assert (decode_owners(()), decode_owner(()), decode_committer(())) == ([], UNATTRIBUTED, None)
    assert decode_owner(encode_owners([A, B])) == UNATTRIBUTED
    assert decode_owner(encode_owner(A)) == A


@pytest.mark.parametrize(
    "value", [None, b"", b"\xff", b"{", b"7", b"[7]", b'[["a","b"]]', b"[" * 100_000, b'[["a","b",1e999]]', b'{"a":1}']
)
def test_what_is_not_understood_names_no_client(value):
    headers = (("barnabas.clients", value), ("barnabas.committer", value))
    assert decode_owners(headers) == []
    assert decode_committer(headers) is None


@pytest.mark.parametrize("topic_id", [UUID(int=1), UUID(int=2**128 - 1), NO_TOPIC_ID])
def test_the_topic_of_an_offset_comes_back_beside_its_client(topic_id):
    headers = encode_offset_headers(Committer(A, True), topic_id)
    assert (decode_topic_id(headers), decode_committer(headers)) == (topic_id, Committer(A, True))


@pytest.mark.parametrize("value", [None, b"", b"x" * 15, b"x" * 17])
def test_what_is_no_topic_id_names_no_topic(value):
    assert decode_topic_id((("barnabas.topic.id", value),)) == NO_TOPIC_ID


@pytest.mark.parametrize("runs", ['["a","b",1000000000000]', ",".join(['["a","b",10000]'] * 11)])
def test_a_header_does_not_claim_more_members_than_a_group_has(runs):
    assert decode_owners((("barnabas.clients", f"[{runs}]".encode()),)) == []
