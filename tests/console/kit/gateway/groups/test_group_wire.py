"""Assignments and commits as bytes on the wire."""

import struct

from broker.client.assignment import decode_assignment
from broker.common.types import TopicPartition
from broker.coordinator.group.records import (
    CommittedOffset,
    OffsetKey,
    encode_group_key,
    encode_offset_key,
    encode_offset_value,
)
from console.kit.gateway.groups.commit_log import commit_in
from console.kit.gateway.groups.described import member_order
from console.kit.gateway.groups.interface import CommitView, MemberView

KEY = encode_offset_key(OffsetKey("readers", TopicPartition("orders", 2)))


class Message:
    """As confluent-kafka hands one out."""

    def __init__(self, key: bytes | None, value: bytes | None, error: object = None):
        self._key, self._value, self._error = key, value, error

    def key(self):
        return self._key

    def value(self):
        return self._value

    def error(self):
        return self._error

    def timestamp(self):
        return 1, 5_000


def test_an_assignment_is_read_whatever_its_version_adds_behind():
    payments = struct.pack(">h8sii", 8, b"payments", 1, 0)
    orders = struct.pack(">h6siii", 6, b"orders", 2, 3, 1)
    data = struct.pack(">hi", 1, 2) + payments + orders + struct.pack(">i9s", 9, b"user data")

    assert decode_assignment(data) == (("orders", 1), ("orders", 3), ("payments", 0))


def test_an_assignment_that_is_none_is_empty():
    assert decode_assignment(b"") == ()
    assert decode_assignment(b"\x00\x00\x00\x00\x00\x09ab") == ()
    assert decode_assignment(struct.pack(">hih2sii", 0, 1, 2, b"\xff\xfe", 1, 0)) == ()
    assert decode_assignment(struct.pack(">hih1s", 0, 2**31 - 1, 1, b"t")) == ()


def test_members_stand_as_a_person_counts():
    members = [MemberView(f"{name}-x", name, "127.0.0.1", "", ()) for name in ("m1", "m10", "m2")]
    assert [member.client_id for member in sorted(members, key=member_order)] == ["m1", "m2", "m10"]


def test_a_commit_is_read_with_its_time():
    value = encode_offset_value(CommittedOffset(42, commit_timestamp_ms=7_000))

    assert commit_in(Message(KEY, value)) == CommitView("readers", ("orders", 2), 42, 7_000)


def test_a_tombstone_is_a_commit_taken_away():
    assert commit_in(Message(KEY, None)) == CommitView("readers", ("orders", 2), None, 5_000)


def test_what_is_no_commit_is_passed_over():
    assert commit_in(Message(encode_group_key("readers"), b"")) is None
    assert commit_in(Message(None, b"x")) is None
    assert commit_in(Message(KEY, b"\x00\x09")) is None
    assert commit_in(Message(b"\x00\x63", b"x")) is None
    assert commit_in(Message(KEY, None, error="broken")) is None
