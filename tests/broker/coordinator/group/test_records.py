import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.errors import InvariantViolation
from broker.common.types import TopicPartition
from broker.coordinator.fields import FieldWriter
from broker.coordinator.group import records
from broker.coordinator.group.records import CommittedOffset, GroupKey, GroupMetadata, MemberMetadata, OffsetKey

MEMBER = MemberMetadata("m", "i", "c", "/h", 60_000, 10_000, b"\x00\x01s", b"\xffa")
GROUP = GroupMetadata("consumer", 7, "range", "m", 1_700_000_000_000, (MEMBER,))

#: Kafka 3.9 writes exactly these bytes.
OFFSET_KEY = bytes.fromhex("0001 0001 67 0001 74 00000005")
GROUP_KEY = bytes.fromhex("0002 0001 67")
OFFSET_VALUE_3 = bytes.fromhex("0003 000000000000002a 00000009 0002 6869 0000000000000064")
OFFSET_VALUE_1 = bytes.fromhex("0001 000000000000002a 0002 6869 0000000000000064 00000000000000c8")
OFFSET_VALUE_0 = bytes.fromhex("0000 000000000000002a 0002 6869 0000000000000064")
GROUP_VALUE_3 = bytes.fromhex(
    "0003 0008 636f6e73756d6572 00000007 0005 72616e6765 0001 6d 0000018bcfe56800 00000001"
    "0001 6d 0001 69 0001 63 0002 2f68 0000ea60 00002710 00000003 000173 00000002 ff61"
)
GROUP_VALUE_0 = bytes.fromhex(
    "0000 0008 636f6e73756d6572 00000007 0005 72616e6765 0001 6d 00000001"
    "0001 6d 0001 63 0002 2f68 00002710 00000003 000173 00000002 ff61"
)
EMPTY_GROUP_VALUE_2 = bytes.fromhex("0002 0000 00000001 ffff ffff 0000000000000064 00000000")


def test_keys_have_kafka_s_bytes():
    assert records.encode_offset_key(OffsetKey("g", TopicPartition("t", 5))) == OFFSET_KEY
    assert records.encode_group_key("g") == GROUP_KEY
    assert records.decode_key(OFFSET_KEY) == OffsetKey("g", TopicPartition("t", 5))
    assert records.decode_key(b"\x00\x00" + OFFSET_KEY[2:]) == OffsetKey("g", TopicPartition("t", 5))
    assert records.decode_key(memoryview(GROUP_KEY)) == GroupKey("g")


def test_keys_of_newer_group_types_are_none_of_ours():
    assert records.decode_key(b"\x00\x03\x00\x01g") is None


def test_offset_value_has_kafka_s_bytes():
    value = CommittedOffset(offset=42, leader_epoch=9, metadata="hi", commit_timestamp_ms=100)
    assert records.encode_offset_value(value) == OFFSET_VALUE_3
    assert records.decode_offset_value(OFFSET_VALUE_3) == value


def test_offset_with_its_own_expiry_is_written_in_the_version_that_has_room_for_it():
    value = CommittedOffset(offset=42, metadata="hi", commit_timestamp_ms=100, expire_timestamp_ms=200)
    assert records.encode_offset_value(value) == OFFSET_VALUE_1
    assert records.decode_offset_value(OFFSET_VALUE_1) == value


@pytest.mark.parametrize("version", [0, 2])
def test_older_offset_values_are_read(version: int):
    value = records.decode_offset_value(bytes([0, version]) + OFFSET_VALUE_0[2:])
    assert value == CommittedOffset(offset=42, metadata="hi", commit_timestamp_ms=100)


def test_group_value_has_kafka_s_bytes():
    assert records.encode_group_value(GROUP) == GROUP_VALUE_3
    assert records.decode_group_value(memoryview(GROUP_VALUE_3)) == GROUP


def test_oldest_group_value_waits_for_rejoining_members_as_long_as_for_silent_ones():
    (member,) = records.decode_group_value(GROUP_VALUE_0).members
    assert member.rebalance_timeout_ms == member.session_timeout_ms == 10_000
    assert member.group_instance_id is None


def test_empty_group_has_neither_protocol_nor_leader():
    value = records.decode_group_value(EMPTY_GROUP_VALUE_2)
    assert value == GroupMetadata("", 1, None, None, 100)
    assert records.decode_group_value(records.encode_group_value(value)) == value


@pytest.mark.parametrize(
    ("decode", "whole"), [(records.decode_group_value, GROUP_VALUE_3), (records.decode_offset_value, OFFSET_VALUE_3)]
)
def test_damaged_values_are_refused_at_every_length(decode, whole: bytes):
    for length in range(len(whole)):
        with pytest.raises(InvariantViolation):
            decode(whole[:length])
    with pytest.raises(InvariantViolation):
        decode(whole + b"\x00")
    with pytest.raises(InvariantViolation):
        decode(b"\x00\x04" + whole[2:])


def test_string_that_is_not_utf8_is_refused():
    with pytest.raises(InvariantViolation):
        records.decode_key(b"\x00\x02\x00\x01\xff")


@given(
    st.text(max_size=20),
    st.text(max_size=20),
    st.integers(0, 2**31 - 1),
    st.integers(-1, 2**63 - 1),
    st.integers(-1, 2**31 - 1),
    st.text(max_size=20),
    st.integers(-1, 2**63 - 1),
)
def test_what_is_written_by_hand_is_what_the_fields_one_by_one_would_be(
    group_id, topic, partition, offset, leader_epoch, metadata, timestamp_ms
):
    key = OffsetKey(group_id, TopicPartition(topic, partition))
    written = FieldWriter().int16(1).string(group_id).string(topic).int32(partition).to_bytes()
    assert records.encode_offset_key(key) == written
    assert records.decode_key(written) == key
    value = CommittedOffset(offset, leader_epoch, metadata, timestamp_ms)
    written = FieldWriter().int16(3).int64(offset).int32(leader_epoch).string(metadata).int64(timestamp_ms).to_bytes()
    assert records.encode_offset_value(value) == written
    assert records.decode_offset_value(written) == value


@given(st.binary(max_size=40) | st.binary(max_size=40).map(lambda rest: b"\0\1\0\1" + rest))
def test_any_bytes_are_a_key_or_refused(data: bytes):
    try:
        key = records.decode_key(data)
    except InvariantViolation:
        return
    if isinstance(key, OffsetKey):
        assert records.encode_offset_key(key)[2:] == data[2:]


@given(st.binary(max_size=40) | st.binary(max_size=40).map(lambda rest: b"\0\3" + rest))
def test_any_bytes_are_an_offset_value_or_refused(data: bytes):
    try:
        value = records.decode_offset_value(data)
    except InvariantViolation:
        return
    if data[1] == 3:
        assert records.encode_offset_value(value) == data
