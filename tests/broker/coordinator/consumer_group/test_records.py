"""The records of consumer groups against the definitions inside Kafka 4.4's group coordinator, and as bytes by hand."""

import json
import re
import zipfile
from pathlib import Path
from uuid import UUID

import pytest

from broker.common.errors import InvariantViolation
from broker.coordinator.consumer_group import records
from broker.coordinator.consumer_group.records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupKey,
    CurrentMemberValue,
    CurrentTopicPartitions,
    GroupEpochValue,
    MemberValue,
    PatternValue,
    TargetEpochValue,
    TargetMemberValue,
    TargetTopicPartitions,
)

TOPIC = UUID("00112233-4455-6677-8899-aabbccddeeff")
CURRENT = CurrentMemberValue(
    member_epoch=7,
    previous_member_epoch=6,
    state=1,
    assigned_partitions=[CurrentTopicPartitions(topic_id=TOPIC, partitions=[0, 2], assignment_epochs=[5, 7])],
    partitions_pending_revocation=[CurrentTopicPartitions(topic_id=TOPIC, partitions=[1])],
)
MEMBER = MemberValue(
    instance_id="i",
    client_id="c",
    client_host="/h",
    rack_id=None,
    subscribed_topic_names=["a", "b"],
    subscribed_topic_regex=None,
    rebalance_timeout_ms=300_000,
    server_assignor="uniform",
)

CASES = [
    (GroupEpochValue(epoch=10), "0000 0000000a 00"),
    (GroupEpochValue(epoch=10, metadata_hash=255), "0000 0000000a 01 00 08 00000000000000ff"),
    (TargetEpochValue(assignment_epoch=10, assignment_timestamp=1), "0000 0000000a 01 00 08 0000000000000001"),
    (
        TargetMemberValue(topic_partitions=[TargetTopicPartitions(topic_id=TOPIC, partitions=[3])]),
        "0000 02 00112233445566778899aabbccddeeff 02 00000003 00 00",
    ),
    (
        CURRENT,
        "0000 00000007 00000006 01"
        "02 00112233445566778899aabbccddeeff 03 00000000 00000002 01 00 09 03 00000005 00000007"
        "02 00112233445566778899aabbccddeeff 02 00000001 00 00",
    ),
    (MEMBER, "0000 0269 00 0263 032f68 03 0261 0262 00 000493e0 08 756e69666f726d 00"),
    (PatternValue(topics=["t"], version=1, timestamp=2), "0000 02 0274 0000000000000001 0000000000000002 00"),
]


@pytest.mark.parametrize(("value", "written"), CASES, ids=lambda case: type(case).__name__)
def test_values_have_kafka_s_bytes(value, written):
    assert records.encode_value(value).hex() == written.replace(" ", "")
    assert records.decode_value(type(value), bytes.fromhex(written)) == value


def test_member_of_the_classic_protocol_keeps_what_it_supports():
    classic = ClassicMemberMetadata(
        session_timeout_ms=1, supported_protocols=[ClassicProtocol(name="r", metadata=b"m")]
    )
    value = MemberValue(client_id="c", classic_member_metadata=classic, instance_id=None, rack_id=None)
    assert records.decode_value(MemberValue, records.encode_value(value)) == value


@pytest.mark.parametrize(
    ("key", "written"),
    [
        (ConsumerGroupKey(records.GROUP_EPOCH, "g"), "0003 0001 67"),
        (ConsumerGroupKey(records.PARTITION_METADATA, "g"), "0004 0001 67"),
        (ConsumerGroupKey(records.MEMBER, "g", "m"), "0005 0001 67 0001 6d"),
        (ConsumerGroupKey(records.TARGET_EPOCH, "g"), "0006 0001 67"),
        (ConsumerGroupKey(records.TARGET_MEMBER, "g", "m"), "0007 0001 67 0001 6d"),
        (ConsumerGroupKey(records.CURRENT_MEMBER, "g", "m"), "0008 0001 67 0001 6d"),
        (ConsumerGroupKey(records.PATTERN, "g", "t.*"), "0010 0001 67 0003 742e2a"),
    ],
)
def test_keys_have_kafka_s_bytes(key, written):
    assert records.encode_key(key) == bytes.fromhex(written)
    assert records.decode_key(bytes.fromhex(written)) == key


@pytest.mark.parametrize("kind", [0, 1, 2, 9, 10, 17])
def test_keys_of_other_groups_are_none_of_these(kind):
    assert records.decode_key(kind.to_bytes(2) + b"\x00\x01g") is None


@pytest.mark.parametrize("broken", ["0001 0000000a 00", "0000 0000", "0000 0000000a 00 00", ""])
def test_bytes_that_are_no_value_are_a_defect(broken):
    with pytest.raises(InvariantViolation):
        records.decode_value(GroupEpochValue, bytes.fromhex(broken))


DEFINED = {
    "ConsumerGroupMetadataValue": GroupEpochValue,
    "ConsumerGroupMemberMetadataValue": MemberValue,
    "ConsumerGroupTargetAssignmentMetadataValue": TargetEpochValue,
    "ConsumerGroupTargetAssignmentMemberValue": TargetMemberValue,
    "ConsumerGroupCurrentMemberAssignmentValue": CurrentMemberValue,
    "ConsumerGroupRegularExpressionValue": PatternValue,
}


def _definition(name):
    jar = Path.home() / ".cache/barnabas/fetched/kafka-4.4.0/kafka-group-coordinator-4.4.0.jar"
    if not jar.exists():
        pytest.skip("needs Kafka 4.4's jars: make fetched")
    with zipfile.ZipFile(jar) as archive:
        text = archive.read(f"common/message/{name}.json").decode()
    return json.loads(re.sub(r"(?m)^\s*//.*$", "", text))


def _fields_of_kafka(fields, structs):
    for field in fields:
        element = field["type"].removeprefix("[]")
        nested = field.get("fields") or structs.get(element) or []
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", field["name"]).lower()
        yield name, element if not nested else tuple(_fields_of_kafka(nested, structs)), field.get("tag")


def _fields_of_ours(struct):
    for field in struct.fields:
        element = getattr(field.type, "element", field.type)
        yield (
            field.name,
            tuple(_fields_of_ours(element)) if hasattr(element, "fields") else str(element),
            field.tag,
        )


@pytest.mark.parametrize("name", DEFINED)
def test_values_have_the_fields_of_kafka_4_4(name):
    definition = _definition(name)
    structs = {struct["name"]: struct["fields"] for struct in definition.get("commonStructs", ())}
    assert tuple(_fields_of_ours(DEFINED[name])) == tuple(_fields_of_kafka(definition["fields"], structs))
